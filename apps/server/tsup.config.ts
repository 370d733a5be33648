import { defineConfig } from 'tsup'

/** Our packages are bundled from their sources, so that the command starts from a few files; npm's stay outside. */
export default defineConfig({
  entry: ['src/index.ts', 'src/cli.ts'],
  format: 'esm',
  target: 'node22',
  splitting: true,
  sourcemap: true,
  clean: ['!**/*.d.ts', '!.tsbuildinfo'], // those are the type checker's
  noExternal: [/^@pico\//],
  esbuildOptions(options) {
    options.conditions = ['@pico/source', 'node', 'import', 'module', 'default']
  },
})

import { defineConfig } from 'tsup'

/** Our packages, and those of npm's that come as hundreds of small files, are bundled: the command starts in half the time. */
export default defineConfig({
  entry: ['src/index.ts', 'src/cli.ts', 'src/schema-worker.ts'],
  format: 'esm',
  target: 'node22',
  splitting: true,
  sourcemap: true,
  clean: ['!**/*.d.ts', '!.tsbuildinfo'], // those are the type checker's
  noExternal: [/^@pico\//, 'kysely', 'zod'],
  esbuildOptions(options) {
    options.conditions = ['@pico/source', 'node', 'import', 'module', 'default']
  },
})

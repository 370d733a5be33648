import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/sqlite.ts', 'src/postgres.ts', 'src/conformance.ts'],
  format: 'esm',
  target: 'node22',
  sourcemap: true,
  clean: false,
})

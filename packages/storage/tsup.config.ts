import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/file.ts', 'src/memory.ts', 'src/s3.ts', 'src/faults.ts', 'src/conformance.ts'],
  format: 'esm',
  target: 'node22',
  sourcemap: true,
  clean: false,
})

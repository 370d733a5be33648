import { defineConfig } from 'vitest/config'

const conditions = ['@pico/source', 'node', 'import', 'module', 'default']

/** Every package resolves its neighbours to their sources, so that no build is needed to test. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: { include: ['test/**/*.test.ts'], testTimeout: 20_000 },
})

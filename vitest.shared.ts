import { defineConfig } from 'vitest/config'

/** Those of `import` and `require` come with the question: given here they would hold for both, and lead `require` to ES modules. */
const conditions = ['@pico/source', 'node']

/** Every package resolves its neighbours to their sources, so that no build is needed to test. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: { include: ['test/**/*.test.ts'], testTimeout: 20_000 },
})

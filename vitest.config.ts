import { defineConfig } from 'vitest/config'

/** `npm test`: everything that needs nothing but Node. What needs other software is in e2e/test, and runs in `.ci/run`. */
export default defineConfig({
  test: { projects: ['packages/*', 'apps/*', 'e2e/repo'] },
})

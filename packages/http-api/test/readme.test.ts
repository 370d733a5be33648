import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

test('the example in the README is this file, and prints what the README says', () => {
  const readme = readFileSync(here('../README.md'), 'utf8')
  const example = readFileSync(here('readme.example.ts'), 'utf8')
  expect(readme).toContain(`\`\`\`ts\n${example}\`\`\``)
  const printed = execFileSync(process.execPath, ['--conditions=@pico/source', here('readme.example.ts')], {
    encoding: 'utf8',
  })
  expect(readme).toContain(`\`\`\`\n${printed}\`\`\``)
})

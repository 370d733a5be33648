import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

it('the example of the README is this file, and prints what the README says', async () => {
  const example = new URL('readme.example.ts', import.meta.url)
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  expect(readme).toContain(`\`\`\`ts\n${readFileSync(example, 'utf8')}\`\`\``)
  const printed = /^prints\n\n```\n(.*?)```$/ms.exec(readme)?.[1]
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['--conditions=@pico/source', fileURLToPath(example)])
  expect(stdout).toBe(printed)
})

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { ServedStreams } from './served-streams.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

test.each([
  ['readme.example.ts', 'pico'],
  ['readme-durable.example.ts', 'ds'],
] as const)('the README has %s, and it prints what the README says', async (file, protocol) => {
  const readme = readFileSync(here('../README.md'), 'utf8')
  expect(readme).toContain(`\`\`\`ts\n${readFileSync(here(file), 'utf8')}\`\`\``)
  const served = await ServedStreams.open({ protocol })
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=@pico/source', here(file)], {
    env: { PATH: process.env['PATH'] ?? '', PICO_ENDPOINT: served.url },
  })
  expect(readme).toContain(`\`\`\`\n${stdout}\`\`\``)
  await served.close()
})

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { formatWithOptions } from 'node:util'
import { expect, it, vi } from 'vitest'

it('the example of the README runs and prints what the README says', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const code = /```ts\n(.*?)```/s.exec(readme)?.[1] ?? ''
  const printed = /It prints:\n\n```\n(.*?)```/s.exec(readme)?.[1]
  const folder = new URL('.readme/', import.meta.url)
  mkdirSync(folder, { recursive: true })
  const file = new URL('example.ts', folder)
  writeFileSync(file, code.replaceAll("'@pico/group-coordinator'", "'../../src/index.ts'"))
  let output = ''
  const log = vi.spyOn(console, 'log').mockImplementation((...values) => {
    output += `${formatWithOptions({ colors: false }, ...(values as [unknown, ...unknown[]]))}\n`
  })
  try {
    await import(file.href)
  } finally {
    log.mockRestore()
  }
  expect(output).toBe(printed)
})

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8')
const example = join(import.meta.dirname, 'readme.example.ts')

function block(language: string): string | undefined {
  return readme.split(`\`\`\`${language}\n`)[1]?.split('```')[0]
}

test('the example in the README runs and prints what the README says', () => {
  expect(block('ts')).toBe(readFileSync(example, 'utf8'))
  const output = execFileSync(process.execPath, ['--conditions=@pico/source', example], { encoding: 'utf8' })
  expect(output).toBe(block('text'))
})

/**
 * Writes the golden files that are missing: `node --conditions=@pico/source test/golden/write-golden.ts`. Only for a new format version, or a
 * new file: bytes that were written once must stay readable, so an existing file never changes.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { goldenFiles } from './golden-content.ts'

for (const [name, bytes] of Object.entries(goldenFiles())) {
  const path = new URL(`${name}.bin`, import.meta.url)
  if (!existsSync(path)) writeFileSync(path, bytes, { flag: 'wx' })
}

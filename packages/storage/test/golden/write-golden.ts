/**
 * Writes the golden files anew: `node --conditions=@pico/source test/golden/write-golden.ts`. Only for a new format version, or a
 * new file: bytes that were written once must stay readable, so an existing file never changes.
 */
import { writeFileSync } from 'node:fs'
import { goldenFiles } from './golden-content.ts'

for (const [name, bytes] of Object.entries(goldenFiles())) {
  writeFileSync(new URL(`${name}-v1.bin`, import.meta.url), bytes, { flag: 'wx' })
}

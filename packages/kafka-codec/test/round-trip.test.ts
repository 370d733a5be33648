import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { arbitraryStruct } from './arbitrary-message.ts'
import { everyCodec } from './every-codec.ts'

test('decoding what was encoded gives the same message, in every version', { timeout: 60_000 }, () => {
  for (const { title, codec, fields } of everyCodec) {
    const message = arbitraryStruct(fields, codec.version, codec.flexible)
    fc.assert(
      fc.property(message, (value) => assert.deepStrictEqual(codec.decode(codec.encode(value)), value, title)),
      { numRuns: 10 },
    )
  }
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { crc32c } from '../src/index.ts'

test('gives the check values of RFC 3720 and of the CRC catalogue', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283)
  expect(crc32c(new Uint8Array(32))).toBe(0x8a9136aa)
  expect(crc32c(new Uint8Array(32).fill(0xff))).toBe(0x62a8ab43)
  expect(crc32c(new Uint8Array(0))).toBe(0)
})

test('goes on from the checksum of what came before', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.uint8Array(), (a, b) => {
      expect(crc32c(b, crc32c(a))).toBe(crc32c(Buffer.concat([a, b])))
    }),
  )
})

test('looks only at its own part of a larger buffer', () => {
  const whole = Buffer.from('xx123456789xx')
  expect(crc32c(whole.subarray(2, 11))).toBe(0xe3069283)
})

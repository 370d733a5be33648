import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteReader, ReadError } from '../src/index.ts'

function reader(...bytes: number[]): ByteReader {
  // Inside a larger buffer, so that a read past the view's end would find bytes that are not its own.
  const whole = Buffer.from([0xaa, ...bytes, 0xbb, 0xbb, 0xbb, 0xbb, 0xbb, 0xbb, 0xbb, 0xbb])
  return new ByteReader(whole.subarray(1, 1 + bytes.length))
}

function thrownBy(read: () => unknown): ReadError {
  try {
    read()
  } catch (error) {
    if (error instanceof ReadError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('a reader', () => {
  test('reads big-endian integers of every width, signed and unsigned', () => {
    const r = reader(0xff, 0xff, 0xff, 0xfe, 0xff, 0xfe, 0xff, 0xff, 0xff, 0xfd, 0xff, 0xff, 0xff, 0xfd)
    expect([r.int8(), r.uint8(), r.int16(), r.uint16(), r.int32(), r.uint32()]).toEqual([
      -1, 255, -2, 65534, -3, 4294967293,
    ])
    expect([r.offset, r.remaining]).toEqual([14, 0])
  })

  test('reads int64 as bigint, and as number where a number holds it', () => {
    expect(reader(0x80, 0, 0, 0, 0, 0, 0, 0).int64()).toBe(-(2n ** 63n))
    expect(reader(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff).int64AsNumber()).toBe(-1)
    expect(reader(0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff).int64AsNumber()).toBe(Number.MAX_SAFE_INTEGER)
    const error = thrownBy(() => reader(0, 0x20, 0, 0, 0, 0, 0, 0).int64AsNumber())
    expect(error).toMatchObject({ code: 'PICO_BINARY_UNSAFE_INTEGER', offset: 0 })
  })

  test('reads float64', () => {
    expect(reader(0x3f, 0xf8, 0, 0, 0, 0, 0, 0).float64()).toBe(1.5)
  })

  test('reads varints as Kafka writes them', () => {
    expect([reader(0).varint(), reader(1).varint(), reader(2).varint()]).toEqual([0, -1, 1])
    expect(reader(0xff, 0xff, 0xff, 0xff, 0x0f).uvarint()).toBe(0xffff_ffff)
    expect(reader(0xfe, 0xff, 0xff, 0xff, 0x0f).varint()).toBe(0x7fff_ffff)
    expect(reader(0xff, 0xff, 0xff, 0xff, 0x0f).varint()).toBe(-0x8000_0000)
    const longest = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
    expect(reader(...longest).varlong()).toBe(-(2n ** 63n))
  })

  test.each([
    ['uvarint', [0x80, 0x80, 0x80, 0x80, 0x10]],
    ['uvarint', [0x80, 0x80, 0x80, 0x80, 0x80, 0x00]],
    ['varint', [0xff, 0xff, 0xff, 0xff, 0x1f]],
    ['varlong', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02]],
    ['varlong', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]],
    ['varlongAsNumber', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02]],
    ['varlongAsNumber', [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00]],
  ] as const)('refuses a %s of too many bits: %j', (kind, bytes) => {
    const r = reader(7, ...bytes)
    r.skip(1)
    expect(thrownBy(() => r[kind]())).toMatchObject({ code: 'PICO_BINARY_BAD_VARINT', offset: 1 })
  })

  test('refuses as a number what only a bigint holds, and says where it began', () => {
    const r = reader(7, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01)
    r.skip(1)
    expect(thrownBy(() => r.varlongAsNumber())).toMatchObject({ code: 'PICO_BINARY_UNSAFE_INTEGER', offset: 1 })
  })

  test('takes views and makes no copies', () => {
    const bytes = Buffer.from([1, 2, 3, 4])
    const r = new ByteReader(bytes)
    r.skip(1)
    const view = r.take(2)
    bytes[1] = 9
    expect([...view]).toEqual([9, 3])
    expect(r.remaining).toBe(1)
  })

  test('reads text as UTF-8, with a replacement character for what is none', () => {
    expect(reader(0x68, 0xc3, 0xa9).utf8(3)).toBe('hé')
    expect(reader(0x68, 0xc3).utf8(2)).toBe('h\ufffd')
    expect(reader().utf8(0)).toBe('')
  })

  test('reads a UUID as canonical text', () => {
    expect(reader(...Array.from({ length: 16 }, (_, i) => i * 17)).uuid()).toBe('00112233-4455-6677-8899-aabbccddeeff')
  })

  test.each([
    ['int8', 1],
    ['uint8', 1],
    ['int16', 2],
    ['uint16', 2],
    ['int32', 4],
    ['uint32', 4],
    ['int64', 8],
    ['int64AsNumber', 8],
    ['float64', 8],
    ['uuid', 16],
  ] as const)('refuses a %s with a byte too few, and stays where it was', (kind, width) => {
    const r = reader(...new Array<number>(width).fill(1))
    r.skip(1)
    expect(thrownBy(() => r[kind]())).toMatchObject({ code: 'PICO_BINARY_PAST_END', offset: 1 })
    expect(r.offset).toBe(1)
  })

  test.each(['uvarint', 'varint', 'varlong', 'varlongAsNumber'] as const)('refuses a %s that does not end', (kind) => {
    expect(thrownBy(() => reader(0x80, 0x80)[kind]())).toMatchObject({ code: 'PICO_BINARY_PAST_END', offset: 2 })
  })

  test.each(['take', 'utf8', 'skip'] as const)('%s refuses more than is left, and lengths that cannot be', (kind) => {
    const code = (length: number) => thrownBy(() => reader(1, 2)[kind](length)).code
    expect(code(3)).toBe('PICO_BINARY_PAST_END')
    expect(code(2 ** 40)).toBe('PICO_BINARY_PAST_END')
    expect(code(-1)).toBe('PICO_BINARY_BAD_LENGTH')
    expect(code(Number.NaN)).toBe('PICO_BINARY_BAD_LENGTH')
  })

  test('reads varlongs the same as bigint and as number', () => {
    const bytes = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 11 })
    fc.assert(
      fc.property(bytes, (input) => {
        const exact = outcome(() => Number(safe(reader(...input).varlong())))
        expect(outcome(() => reader(...input).varlongAsNumber())).toEqual(exact)
      }),
      { numRuns: 2000 },
    )
  })
})

function safe(value: bigint): bigint {
  if (Number.isSafeInteger(Number(value))) return value
  throw new ReadError('PICO_BINARY_UNSAFE_INTEGER', 0, '')
}

function outcome(read: () => number): number | string {
  try {
    return read()
  } catch (error) {
    if (error instanceof ReadError) return error.code
    throw error
  }
}

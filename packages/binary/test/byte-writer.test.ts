import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ByteReader, ByteWriter, utf8Length, uvarintLength, WriteError } from '../src/index.ts'

function written(write: (writer: ByteWriter) => void): number[] {
  const writer = new ByteWriter()
  write(writer)
  return [...writer.toBytes()]
}

const int64Min = -(2n ** 63n)
const int64Max = 2n ** 63n - 1n

describe('a writer', () => {
  test.each([
    ['int8', -128, 127],
    ['uint8', 0, 255],
    ['int16', -32_768, 32_767],
    ['uint16', 0, 65_535],
    ['int32', -2_147_483_648, 2_147_483_647],
    ['uint32', 0, 4_294_967_295],
    ['uvarint', 0, 4_294_967_295],
    ['varint', -2_147_483_648, 2_147_483_647],
  ] as const)('writes %s from %d to %d and nothing else', (kind, min, max) => {
    const values = [min, -1, 0, 1, max].filter((value) => value >= min)
    for (const value of values) {
      expect(new ByteReader(Uint8Array.from(written((writer) => writer[kind](value))))[kind]()).toBe(value)
    }
    for (const wrong of [min - 1, max + 1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, undefined, null, '1']) {
      const writer = new ByteWriter()
      expect(() => writer[kind](wrong as number)).toThrow(WriteError)
      expect(writer.length).toBe(0)
    }
  })

  test.each(['int64', 'varlong'] as const)('writes %s as far as 64 bits go', (kind) => {
    for (const value of [int64Min, -1n, 0n, 1n, int64Max]) {
      expect(new ByteReader(Uint8Array.from(written((writer) => writer[kind](value))))[kind]()).toBe(value)
    }
    expect(() => new ByteWriter()[kind](int64Max + 1n)).toThrow(WriteError)
    expect(() => new ByteWriter()[kind](int64Min - 1n)).toThrow(WriteError)
  })

  test('writes 64-bit integers from numbers as from bigints', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (value) => {
        expect(written((writer) => writer.int64FromNumber(value))).toEqual(
          written((writer) => writer.int64(BigInt(value))),
        )
        expect(written((writer) => writer.varlongFromNumber(value))).toEqual(
          written((writer) => writer.varlong(BigInt(value))),
        )
      }),
    )
    expect(() => new ByteWriter().int64FromNumber(2 ** 53)).toThrow(WriteError)
    expect(() => new ByteWriter().varlongFromNumber(2 ** 53)).toThrow(WriteError)
  })

  test('writes float64', () => {
    expect(written((writer) => writer.float64(1.5))).toEqual([0x3f, 0xf8, 0, 0, 0, 0, 0, 0])
    expect(() => new ByteWriter().float64('1.5' as unknown as number)).toThrow(WriteError)
  })

  test('writes a UUID from text in either case, and refuses what is none', () => {
    const bytes = written((writer) => writer.uuid('00112233-4455-6677-8899-AABBccddeeff'))
    expect(bytes).toEqual(Array.from({ length: 16 }, (_, i) => i * 17))
    const wrongs = ['', '00112233445566778899aabbccddeeff', '00112233-4455-6677-8899-aabbccddeefg', undefined, null, 5]
    for (const wrong of [...wrongs, '00112233-4455-6677-8899_aabbccddeeff', '0011223é-4455-6677-8899-aabbccddeeff']) {
      const writer = new ByteWriter()
      expect(() => writer.uuid(wrong as string)).toThrow(WriteError)
      expect(writer.length).toBe(0)
    }
  })

  test('announces the length of text and varints before it writes them', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat({ max: 0xffff_ffff }), (text, value) => {
        const writer = new ByteWriter()
        writer.utf8(text, utf8Length(text))
        writer.uvarint(value)
        expect(writer.length).toBe(utf8Length(text) + uvarintLength(value))
        const reader = new ByteReader(writer.toBytes())
        expect(reader.utf8(utf8Length(text))).toBe(text.toWellFormed())
        expect(reader.uvarint()).toBe(value)
      }),
    )
  })

  test('goes on into new memory when a chunk is full, wherever the end of the chunk falls', () => {
    for (let initialBytes = 1; initialBytes < 60; initialBytes++) {
      const writer = new ByteWriter({ initialBytes })
      for (let round = 0; round < 20; round++) {
        writer.int64(-2n)
        writer.varlong(int64Min)
        writer.uvarint(300)
        writer.utf8('hé', 3)
        writer.uuid('00112233-4455-6677-8899-aabbccddeeff')
        writer.float64(0.25)
      }
      const reader = new ByteReader(writer.toBytes())
      for (let round = 0; round < 20; round++) {
        expect(reader.int64()).toBe(-2n)
        expect(reader.varlong()).toBe(int64Min)
        expect(reader.uvarint()).toBe(300)
        expect(reader.utf8(3)).toBe('hé')
        expect(reader.uuid()).toBe('00112233-4455-6677-8899-aabbccddeeff')
        expect(reader.float64()).toBe(0.25)
      }
      expect(reader.remaining).toBe(0)
    }
  })

  test('keeps long byte fields by reference and copies short ones', () => {
    const long = Buffer.alloc(4096, 7)
    const short = Buffer.from([1, 2])
    const writer = new ByteWriter()
    writer.put(short)
    writer.put(long)
    writer.put(short)
    short[0] = 9
    const parts = writer.finish()
    expect(parts.map((part) => part.length)).toEqual([2, 4096, 2])
    expect(parts[1]).toBe(long)
    expect([...parts[0]!, ...parts[2]!]).toEqual([1, 2, 1, 2])
  })

  test('copies long ones too when asked to', () => {
    const long = Buffer.alloc(4096, 7)
    const writer = new ByteWriter()
    writer.copy(long)
    long[0] = 9
    expect(writer.toBytes()[0]).toBe(7)
  })

  test('fills in a length that was left out, though memory has moved on since', () => {
    const writer = new ByteWriter({ initialBytes: 4 })
    const place = writer.reserveInt32()
    for (let i = 0; i < 1000; i++) writer.int32(i)
    writer.fillInt32(place, 12_345)
    expect(new ByteReader(writer.toBytes()).int32()).toBe(12_345)
    expect(() => writer.fillInt32(place, 2 ** 31)).toThrow(WriteError)
  })

  test('appends another writer, keeping what it has by reference', () => {
    const long = Buffer.alloc(5000)
    const inner = new ByteWriter()
    inner.int8(1)
    inner.put(long)
    inner.int8(2)
    const outer = new ByteWriter()
    outer.int8(0)
    outer.append(inner)
    expect(outer.length).toBe(5003)
    expect(outer.finish()[1]).toBe(long)
  })

  test('gives nothing for nothing', () => {
    expect(new ByteWriter().finish()).toEqual([])
    expect(new ByteWriter().toBytes().length).toBe(0)
  })
})

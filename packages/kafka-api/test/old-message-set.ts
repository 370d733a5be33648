import { crc32 } from 'node:zlib'

/** A message set of magic 0 or 1, as producers wrote before Kafka 0.11: offset, size, CRC-32, magic, attributes, key, value. */
export function oldMessageSet(magic: 0 | 1, values: readonly string[]): Buffer {
  return Buffer.concat(values.map((value, at) => oldMessage(magic, at, Buffer.from(value))))
}

function oldMessage(magic: 0 | 1, offset: number, value: Buffer): Buffer {
  const content = Buffer.alloc(2 + (magic === 1 ? 8 : 0) + 8 + value.length)
  content.writeInt8(magic, 0)
  let at = 2
  if (magic === 1) at = content.writeBigInt64BE(1_700_000_000_000n, at)
  at = content.writeInt32BE(-1, at) // no key
  at = content.writeInt32BE(value.length, at)
  value.copy(content, at)
  const head = Buffer.alloc(16)
  head.writeBigInt64BE(BigInt(offset), 0)
  head.writeInt32BE(4 + content.length, 8)
  head.writeUInt32BE(crc32(content), 12)
  return Buffer.concat([head, content])
}

/**
 * A reader written from FORMAT.md alone: it imports nothing of this package, and does nothing the way the package does.
 * If it and the package ever disagree, one of them or the page is wrong.
 */

export interface StrangerRun {
  readonly streamId: number
  readonly baseOffset: number
  readonly endOffset: number
  readonly maxTimestampMs: number
  readonly text: string
  readonly summary: string
}

export interface StrangerIdentity {
  readonly nodeId: number
  readonly nodeEpoch: number
  readonly sequence: number
}

class Cursor {
  readonly view: DataView
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = at
  }

  uint32(): number {
    this.at += 4
    return this.view.getUint32(this.at - 4)
  }

  uint64(): number {
    this.at += 8
    return Number(this.view.getBigUint64(this.at - 8))
  }

  int64(): number {
    this.at += 8
    return Number(this.view.getBigInt64(this.at - 8))
  }

  leb128(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.view.getUint8(this.at++)
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }

  uvarint(): number {
    return Number(this.leb128())
  }

  varlong(): number {
    const zigzag = this.leb128()
    return Number(zigzag % 2n === 0n ? zigzag / 2n : -(zigzag + 1n) / 2n)
  }

  text(length: number): string {
    let text = ''
    for (let i = 0; i < length; i++) text += String.fromCharCode(this.view.getUint8(this.at++))
    return text
  }
}

export function strangerCrc32c(...parts: Uint8Array[]): number {
  let crc = 0xffffffff
  for (const part of parts) {
    for (const byte of part) {
      crc ^= byte
      for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
    }
  }
  return (crc ^ 0xffffffff) >>> 0
}

/** The header's fields, or null unless all that FORMAT.md says of a header holds. */
function readFrameHeader(bytes: Uint8Array, position: number) {
  if (position + 52 > bytes.length) return null
  const cursor = new Cursor(bytes, position)
  if (cursor.text(8) !== 'PicoWALF') return null
  const version = cursor.uint32()
  if (version !== 1 && version !== 2) return null
  const identity = { nodeId: cursor.uint32(), nodeEpoch: cursor.uint64(), sequence: cursor.uint64() }
  const saidPosition = version === 1 ? cursor.uint64() : cursor.uint32() * 512
  const committed = version === 1 ? saidPosition : cursor.uint32() * 512
  const [body, footer, crc] = [cursor.uint32(), cursor.uint32(), cursor.uint32()]
  if (crc !== strangerCrc32c(bytes.subarray(position, position + 48)) || saidPosition !== position) return null
  return { identity, committed, body, footer, length: Math.ceil((52 + body + footer + 16) / 512) * 512 }
}

export function readFrame(bytes: Uint8Array, position: number) {
  const header = readFrameHeader(bytes, position)
  if (header === null || position + header.length > bytes.length) return null
  const { identity, body, footer, length } = header
  const footerAt = position + 52 + body
  const trailer = new Cursor(bytes, position + length - 16)
  const covered = [bytes.subarray(position, position + 52), bytes.subarray(footerAt, position + length - 16)]
  if (trailer.uint32() !== strangerCrc32c(...covered)) return null
  if (trailer.uint32() !== length || trailer.text(8) !== 'FLAWociP') return null
  if (bytes.subarray(footerAt + footer, position + length - 16).some((byte) => byte !== 0)) return null

  const index = new Cursor(bytes, footerAt)
  const runs: StrangerRun[] = []
  let at = position + 52
  const count = index.uvarint()
  for (let i = 0; i < count; i++) {
    const streamId = index.varlong()
    const baseOffset = index.int64()
    const endOffset = baseOffset + index.uvarint()
    const run = bytes.subarray(at, at + index.uvarint())
    const maxTimestampMs = index.int64()
    if (index.uint32() !== strangerCrc32c(run)) return null
    const summary = index.text(index.uvarint())
    runs.push({ streamId, baseOffset, endOffset, maxTimestampMs, text: new TextDecoder().decode(run), summary })
    at += run.length
  }
  return at === footerAt && index.at === footerAt + footer ? { identity, runs, length } : null
}

/** A segment whose end is not known. */
export function readSegment(bytes: Uint8Array) {
  const cursor = new Cursor(bytes)
  if (cursor.text(8) !== 'PicoWALS' || ![1, 2].includes(cursor.uint32())) throw new Error('no segment')
  const identity: StrangerIdentity = { nodeId: cursor.uint32(), nodeEpoch: cursor.uint64(), sequence: cursor.uint64() }
  const sizeBytes = cursor.uint64()
  const hasPrevious = bytes.subarray(40, 48).some((byte) => byte !== 0xff)
  const previous = { sequence: cursor.uint64(), committedBytes: cursor.uint64() }
  if (new Cursor(bytes, 508).uint32() !== strangerCrc32c(bytes.subarray(0, 508))) throw new Error('damaged header')
  if (sizeBytes !== bytes.length) throw new Error('damaged: another size')

  const sameSegment = (other: StrangerIdentity) => JSON.stringify(other) === JSON.stringify(identity)
  const frames: StrangerRun[][] = []
  let end = 512
  for (
    let frame = readFrame(bytes, end);
    frame !== null && sameSegment(frame.identity);
    frame = readFrame(bytes, end)
  ) {
    frames.push(frame.runs)
    end += frame.length
  }
  const broken = readFrameHeader(bytes, end)
  for (let at = end + (broken?.length ?? 512); at < bytes.length; ) {
    const later = readFrameHeader(bytes, at)
    const isLater = later !== null && sameSegment(later.identity)
    if (isLater && later.committed > end) throw new Error(`damaged at ${end}`)
    at += isLater ? later.length : 512
  }
  return { identity, sizeBytes, previous: hasPrevious ? previous : null, frames, end }
}

export function readDataObject(bytes: Uint8Array) {
  const trailerAt = bytes.length - 28
  const trailer = new Cursor(bytes, trailerAt)
  const [footerAt, footerLength, version, crc] = [
    trailer.uint64(),
    trailer.uint32(),
    trailer.uint32(),
    trailer.uint32(),
  ]
  if (trailer.text(8) !== 'PicoDATA' || version !== 1 || footerAt + footerLength !== trailerAt)
    throw new Error('no data object')
  if (crc !== strangerCrc32c(bytes.subarray(footerAt, trailerAt + 16))) throw new Error('damaged footer')

  const table = new Cursor(bytes, footerAt)
  const count = table.uint32()
  return Array.from({ length: count }, () => {
    const streamId = table.uint64()
    const record = new Cursor(bytes, footerAt + table.uint32())
    const [position, baseOffset, endOffset] = [record.int64(), record.int64(), record.int64()]
    let at = position
    let offset = baseOffset
    const chunks = Array.from({ length: record.uvarint() }, () => {
      offset += record.varlong()
      const chunk = bytes.subarray(at, at + record.uvarint())
      at += chunk.length
      const maxTimestampMs = record.int64()
      if (record.uint32() !== strangerCrc32c(chunk)) throw new Error(`damaged chunk at ${at}`)
      return { baseOffset: offset, maxTimestampMs, text: new TextDecoder().decode(chunk) }
    })
    return { streamId, baseOffset, endOffset, chunks }
  })
}

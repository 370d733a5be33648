/** Bytes that are written at their end. What `view` is over changes whenever they have to grow. */
export class GrowingBytes {
  bytes: Buffer
  view: DataView
  length = 0

  constructor(sizeBytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(sizeBytes)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, this.bytes.length)
  }

  /** Makes room for `more` bytes. */
  reserve(more: number): void {
    const needed = this.length + more
    if (needed <= this.bytes.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.bytes.length * 2))
    this.bytes.copy(grown, 0, 0, this.length)
    this.bytes = grown
    this.view = new DataView(grown.buffer, grown.byteOffset, grown.length)
  }

  /** Text of nothing but ASCII. */
  ascii(text: string): void {
    this.reserve(text.length)
    this.length += this.bytes.write(text, this.length, 'latin1')
  }

  append(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  written(): Buffer {
    return this.bytes.subarray(0, this.length)
  }
}

import { SegmentFailedError } from '../errors.ts'
import type { SegmentWriter } from '../segment-store.ts'
import { type FaultControl, injectedError } from './fault-control.ts'

const sectorBytes = 512

/** A segment that fails as a real one does: once, and then it takes no more. */
export class FaultySegment implements SegmentWriter {
  readonly #inner: SegmentWriter
  readonly #control: FaultControl
  readonly #writing = new Set<Promise<void>>()
  #failure: SegmentFailedError | null = null

  constructor(inner: SegmentWriter, control: FaultControl) {
    this.#inner = inner
    this.#control = control
  }

  get key(): string {
    return this.#inner.key
  }

  get sizeBytes(): number {
    return this.#inner.sizeBytes
  }

  write(position: number, buffers: readonly Uint8Array[]): Promise<void> {
    const writing = this.#write(position, buffers).finally(() => this.#writing.delete(writing))
    this.#writing.add(writing)
    return writing
  }

  async close(): Promise<void> {
    // Their own callers hear of failed writes; the file only has to stay open until then.
    await Promise.allSettled(this.#writing)
    await this.#inner.close()
  }

  async #write(position: number, buffers: readonly Uint8Array[]): Promise<void> {
    if (this.#failure !== null) throw this.#failure
    const fault = await this.#control.begin('write', [this.key])
    if (fault?.kind === 'fail-before') throw this.#fail(fault)
    const bytes = buffers.reduce((sum, buffer) => sum + buffer.length, 0)
    await this.#control.transfer(bytes)
    if (fault?.kind === 'torn') await this.#tear(position, Buffer.concat(buffers), fault.keep)
    else await this.#inner.write(position, buffers)
    await this.#control.end('write', [this.key])
    if (fault?.kind === 'fail-after' || fault?.kind === 'torn') throw this.#fail(fault)
  }

  /** Never all of it: a write that reached the file whole is `fail-after`. */
  async #tear(position: number, bytes: Buffer, keep: 'beginning' | 'sectors'): Promise<void> {
    if (keep === 'beginning') {
      await this.#inner.write(position, [bytes.subarray(0, this.#control.draw(bytes.length))])
      return
    }
    const sectors = Math.ceil(bytes.length / sectorBytes)
    const lost = this.#control.draw(sectors)
    for (let sector = 0; sector < sectors; sector++) {
      if (sector === lost || this.#control.draw(2) === 0) continue
      const at = sector * sectorBytes
      await this.#inner.write(position + at, [bytes.subarray(at, at + sectorBytes)])
    }
  }

  #fail(fault: { readonly code?: string }): SegmentFailedError {
    this.#failure = new SegmentFailedError(this.key, { cause: injectedError(fault, 'write') })
    return this.#failure
  }
}

import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'

/** The bytes of one request, in memory, for as many tries as it takes. */
export interface PutBody {
  readonly buffers: readonly Uint8Array[]
  readonly lengthBytes: number
  /** In hexadecimal; what the store checks the bytes against before it says that it has them. Null where TLS does that. */
  readonly sha256: string | null
}

export function putBody(buffers: readonly Uint8Array[], isHashed: boolean): PutBody {
  const gathered = new GatheredBody(isHashed)
  for (const buffer of buffers) gathered.add(buffer)
  return gathered.finish()
}

/** The body for one try: a stream is read only once. */
export class PayloadStream extends Readable {
  /** For the header `x-amz-content-sha256`; the SDK would hash only a body of one piece. */
  readonly payloadHash: string
  readonly #buffers: Iterator<Uint8Array>

  constructor({ buffers, sha256 }: PutBody) {
    super()
    this.payloadHash = sha256 ?? 'UNSIGNED-PAYLOAD'
    this.#buffers = buffers.values()
  }

  override _read(): void {
    const { value, done } = this.#buffers.next()
    this.push(done === true ? null : value)
  }
}

/** A body that comes piece by piece: hashed as it comes, so that no long body holds up everything else at its end. */
export class GatheredBody {
  readonly #buffers: Uint8Array[] = []
  readonly #hash: ReturnType<typeof createHash> | null
  lengthBytes = 0

  constructor(isHashed: boolean) {
    this.#hash = isHashed ? createHash('sha256') : null
  }

  /** Keeps the buffer itself. */
  add(buffer: Uint8Array): void {
    if (buffer.length === 0) return // to a stream it would be the end of a turn without bytes
    this.#buffers.push(buffer)
    this.lengthBytes += buffer.length
    this.#hash?.update(buffer)
  }

  finish(): PutBody {
    return { buffers: this.#buffers, lengthBytes: this.lengthBytes, sha256: this.#hash?.digest('hex') ?? null }
  }
}

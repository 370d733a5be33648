import type { PageOf } from './follow.ts'

/** What one read of a Durable Stream gives: bytes, whose pieces nobody remembers, or of a JSON stream whole messages. */
export class DurableChunk implements PageOf<string> {
  readonly bytes: Uint8Array
  /** A token to read on from; only to be given back. */
  readonly next: string
  readonly upToDate: boolean
  readonly closed: boolean
  readonly isJson: boolean

  constructor(chunk: Omit<PageOf<string>, 'empty'> & { readonly bytes: Uint8Array; readonly isJson: boolean }) {
    this.bytes = chunk.bytes
    this.next = chunk.next
    this.upToDate = chunk.upToDate
    this.closed = chunk.closed
    this.isJson = chunk.isJson
  }

  get text(): string {
    return decoder.decode(this.bytes)
  }

  /** Of a JSON stream. @throws SyntaxError for one that is none */
  messages(): unknown[] {
    const parsed: unknown = this.bytes.length === 0 ? [] : JSON.parse(this.text)
    if (!Array.isArray(parsed)) throw new SyntaxError('the answer is not an array of messages')
    return parsed
  }

  get empty(): boolean {
    return this.bytes.length === 0 || (this.isJson && this.bytes.length === 2)
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

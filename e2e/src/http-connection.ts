import assert from 'node:assert'
import { connect, type Socket } from 'node:net'

/** What came before the body of a response. */
export class ResponseHead {
  readonly status: number
  readonly #text: string

  constructor(text: string) {
    this.#text = text
    this.status = Number(text.slice(9, 12)) // after `HTTP/1.1 `
  }

  header(name: string): string | undefined {
    return new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*\\r?$`, 'im').exec(this.#text)?.[1]
  }

  toString(): string {
    return this.#text
  }
}

export interface ResponseHandler {
  onHead?(head: ResponseHead): void
  /** Borrowed until the call returns. */
  onBody?(bytes: Buffer): void
  onEnd(head: ResponseHead, bodyBytes: number): void
  /** The connection is of no use any more, whoever ended it. Not called after `destroy`. */
  onLost(error: Error): void
}

const headEnd = Buffer.from('\r\n\r\n')
const lineEnd = Buffer.from('\r\n')
const untilClose = Number.POSITIVE_INFINITY

/**
 * HTTP/1.1 over a bare socket, a request at a time: a load that costs the machine a small part of what the server under it does.
 * Understands lengths and chunks; no trailers, no 1xx.
 */
export class HttpConnection {
  readonly socket: Socket
  readonly #handler: ResponseHandler
  /** What has come of something that is not whole: a head, or the line before a chunk. */
  #partial: Buffer | null = null
  #head: ResponseHead | null = null
  #isChunked = false
  /** Of the body, or of the chunk, line end included. */
  #bytesLeft = 0
  #bodyBytes = 0

  private constructor(socket: Socket, handler: ResponseHandler) {
    this.socket = socket
    this.#handler = handler
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    socket.on('error', (error) => handler.onLost(error))
    socket.on('end', () => handler.onLost(new Error('the server ended the connection')))
  }

  static open(port: number, handler: ResponseHandler): Promise<HttpConnection> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new HttpConnection(socket, handler))
      })
    })
  }

  send(request: Uint8Array | string): void {
    this.socket.write(request)
  }

  destroy(): void {
    this.socket.removeAllListeners('end')
    this.socket.removeAllListeners('data')
    this.socket.removeAllListeners('error')
    this.socket.on('error', () => {}) // what a reset says of a connection that nobody wants
    this.socket.destroy()
  }

  #take(bytes: Buffer): void {
    let rest: Buffer | null = bytes
    while (rest !== null && rest.length > 0) {
      if (this.#head === null) rest = this.#takeHead(rest)
      else if (this.#bytesLeft > 0) rest = this.#takeBody(rest, this.#head)
      else rest = this.#takeChunkLine(rest, this.#head)
    }
  }

  #takeHead(bytes: Buffer): Buffer | null {
    const all = this.#withPartial(bytes)
    const at = all.indexOf(headEnd)
    if (at < 0) return this.#keep(all)
    const head = new ResponseHead(all.toString('latin1', 0, at))
    const rest = all.subarray(at + headEnd.length)
    this.#bodyBytes = 0
    this.#isChunked = false
    this.#bytesLeft = 0
    this.#head = head
    this.#handler.onHead?.(head)
    if (head.status === 204 || head.status === 304) {
      this.#end(head)
      return rest
    }
    const length = head.header('content-length')
    if (length !== undefined) {
      this.#bytesLeft = Number(length)
      if (this.#bytesLeft === 0) this.#end(head)
    } else if (head.header('transfer-encoding')?.toLowerCase() === 'chunked') {
      this.#isChunked = true
    } else {
      this.#bytesLeft = untilClose
    }
    return rest
  }

  #takeBody(bytes: Buffer, head: ResponseHead): Buffer {
    const taken = Math.min(bytes.length, this.#bytesLeft)
    this.#bytesLeft -= taken
    // Of a chunk, the last two bytes that are left are the end of its line.
    const data = this.#isChunked ? Math.max(0, taken - Math.max(0, lineEnd.length - this.#bytesLeft)) : taken
    this.#bodyBytes += data
    if (data > 0) this.#handler.onBody?.(data === bytes.length ? bytes : bytes.subarray(0, data))
    if (this.#bytesLeft === 0 && !this.#isChunked) this.#end(head)
    return bytes.subarray(taken)
  }

  #takeChunkLine(bytes: Buffer, head: ResponseHead): Buffer | null {
    const all = this.#withPartial(bytes)
    const at = all.indexOf(lineEnd)
    if (at < 0) return this.#keep(all)
    const length = Number.parseInt(all.toString('latin1', 0, at), 16)
    assert(length >= 0, 'a chunk begins with its length')
    if (length > 0) {
      this.#bytesLeft = length + lineEnd.length
      return all.subarray(at + lineEnd.length)
    }
    if (all.length < at + headEnd.length) return this.#keep(all)
    this.#end(head)
    return all.subarray(at + headEnd.length)
  }

  #withPartial(bytes: Buffer): Buffer {
    const partial = this.#partial
    this.#partial = null
    return partial === null ? bytes : Buffer.concat([partial, bytes])
  }

  #keep(bytes: Buffer): null {
    this.#partial = Buffer.from(bytes)
    return null
  }

  #end(head: ResponseHead): void {
    this.#head = null
    this.#handler.onEnd(head, this.#bodyBytes)
  }
}

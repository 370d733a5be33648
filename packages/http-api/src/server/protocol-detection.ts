import type { Socket } from 'node:net'

/** What every HTTP/2 connection begins with (RFC 9113, 3.4), as far as no HTTP/1.1 request does. */
const preface = Buffer.from('PRI * HTTP/2.0')

export interface Protocols {
  serveHttp1(socket: Socket): void
  serveHttp2(socket: Socket): void
}

/**
 * Looks at the first bytes of new connections, and gives each, bytes and all, to the protocol that they belong to. A connection over
 * which nothing comes for `timeoutMs` is closed.
 */
export class ProtocolDetection {
  readonly #protocols: Protocols
  readonly #timeoutMs: number
  readonly #undecided = new Set<Socket>()

  constructor(protocols: Protocols, timeoutMs: number) {
    this.#protocols = protocols
    this.#timeoutMs = timeoutMs
  }

  accept(socket: Socket): void {
    let head: Buffer | null = null
    const decide = () => {
      const bytes: Buffer | null = socket.read()
      if (bytes === null) return
      head = head === null ? bytes : Buffer.concat([head, bytes])
      const known = Math.min(head.length, preface.length)
      const isHttp2 = head.compare(preface, 0, known, 0, known) === 0
      if (isHttp2 && known < preface.length) return // It could still be either.
      leave()
      socket.unshift(head)
      if (isHttp2) this.#protocols.serveHttp2(socket)
      else this.#protocols.serveHttp1(socket)
    }
    const giveUp = () => socket.destroy()
    const leave = () => {
      this.#undecided.delete(socket)
      socket.off('readable', decide).off('error', giveUp).off('end', giveUp).off('timeout', giveUp).off('close', leave)
      socket.setTimeout(0)
    }
    this.#undecided.add(socket)
    socket.setTimeout(this.#timeoutMs)
    socket.on('readable', decide).on('error', giveUp).on('end', giveUp).on('timeout', giveUp).on('close', leave)
  }

  closeUndecided(): void {
    for (const socket of this.#undecided) socket.destroy()
  }
}

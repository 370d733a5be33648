import { connect, createServer, type Server, type Socket } from 'node:net'

export interface FlakySettings {
  readonly seed: number
  readonly targetPort: () => number
  /** A connection breaks after so many bytes of either direction, about. 0: never. */
  readonly breakAfterBytes: number
  /** Pieces wait so long at most. */
  readonly delayMsMax: number
}

/** TCP between a client and a server that breaks connections, by reset or by end, anywhere in what is sent, and holds pieces back. */
export class FlakyProxy {
  readonly #server: Server
  readonly #settings: FlakySettings
  readonly #random: () => number
  readonly #sockets = new Set<Socket>()
  /** Lets connections live while false. */
  breaks = true
  broken = 0

  private constructor(settings: FlakySettings) {
    this.#settings = settings
    this.#random = seededRandom(settings.seed)
    this.#server = createServer((client) => this.#accept(client))
  }

  static async open(settings: FlakySettings): Promise<FlakyProxy> {
    const proxy = new FlakyProxy(settings)
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject)
      proxy.#server.listen(0, '127.0.0.1', resolve)
    })
    return proxy
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('a TCP server without a port')
    return `http://127.0.0.1:${address.port}`
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #accept(client: Socket): void {
    const server = connect(this.#settings.targetPort(), '127.0.0.1')
    const pair = [client, server]
    const end = () => {
      for (const socket of pair) socket.destroy()
    }
    for (const socket of pair) {
      this.#sockets.add(socket)
      socket.on('error', end)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        end()
      })
    }
    this.#carry(client, server, pair)
    this.#carry(server, client, pair)
  }

  #carry(from: Socket, to: Socket, pair: readonly Socket[]): void {
    const { breakAfterBytes, delayMsMax } = this.#settings
    let left = breakAfterBytes === 0 ? Number.POSITIVE_INFINITY : this.#bytesUntilBroken()
    from.on('data', (chunk: Buffer) => {
      const passes = this.breaks ? chunk.subarray(0, left) : chunk
      const isBroken = passes.length < chunk.length
      if (this.breaks) left -= passes.length
      from.pause()
      setTimeout(() => {
        to.write(passes)
        from.resume()
        if (isBroken) this.#break(pair)
      }, this.#random() * delayMsMax)
    })
  }

  /** Few mostly, and sometimes many: or what is long would never arrive. */
  #bytesUntilBroken(): number {
    return Math.floor((this.#settings.breakAfterBytes * this.#random()) / (0.03 + this.#random()))
  }

  #break(pair: readonly Socket[]): void {
    this.broken++
    for (const socket of pair) {
      if (this.#random() < 0.5) socket.resetAndDestroy()
      else socket.destroySoon()
    }
  }
}

/** Mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

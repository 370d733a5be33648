import assert from 'node:assert'
import { HttpConnection } from '../http-connection.ts'

interface Append {
  readonly path: string
  readonly body: Buffer
  readonly onAcknowledged: () => void
}

/** Appends over a few connections, each with one request at a time; what finds none free waits its turn. */
export class Appender {
  readonly #idle: HttpConnection[] = []
  readonly #all = new Set<HttpConnection>()
  readonly #waiting: Append[] = []
  readonly #sent = new Map<HttpConnection, Append>()

  static async open(port: number, connections: number): Promise<Appender> {
    const appender = new Appender()
    for (let index = 0; index < connections; index++) await appender.#connect(port)
    return appender
  }

  /** Resolves when it is acknowledged. */
  append(path: string, body: Buffer): Promise<void> {
    return new Promise((onAcknowledged) => {
      this.#waiting.push({ path, body, onAcknowledged })
      this.#sendNext()
    })
  }

  close(): void {
    for (const connection of this.#all) connection.destroy()
  }

  #sendNext(): void {
    const connection = this.#waiting.length > 0 ? this.#idle.pop() : undefined
    const append = connection && this.#waiting.shift()
    if (connection === undefined || append === undefined) return
    this.#sent.set(connection, append)
    const head = `POST ${append.path} HTTP/1.1\r\nHost: live\r\nContent-Length: ${append.body.length}\r\n\r\n`
    connection.send(Buffer.concat([Buffer.from(head), append.body]))
  }

  async #connect(port: number): Promise<void> {
    const connection: HttpConnection = await HttpConnection.open(port, {
      onEnd: (head) => {
        assert(head.status === 200, `an append was answered:\n${head}`)
        const append = this.#sent.get(connection)
        this.#sent.delete(connection)
        this.#idle.push(connection)
        append?.onAcknowledged()
        this.#sendNext()
      },
      onLost: (error) => {
        const at = this.#idle.indexOf(connection)
        if (at < 0) throw error
        // The server closes what has been silent for long.
        this.#idle.splice(at, 1)
        connection.destroy()
        this.#all.delete(connection)
        this.#connect(port).catch((reason) => {
          throw reason // nothing waits for it: ends the process
        })
      },
    })
    this.#all.add(connection)
    this.#idle.push(connection)
    this.#sendNext()
  }
}

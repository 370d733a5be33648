import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** What is answered to a request; 'reset' breaks the connection instead. */
export type ScriptedAnswer =
  | 'reset'
  | 'never'
  | {
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      readonly body?: string | Uint8Array
    }

type Answerer = (request: SeenRequest, index: number) => ScriptedAnswer

/** A server that answers what a test tells it to, for answers that a real one gives rarely. */
export class ScriptedServer {
  readonly seen: SeenRequest[] = []
  readonly #server: Server
  readonly #answer: Answerer

  private constructor(answer: Answerer) {
    this.#answer = answer
    this.#server = createServer((request, response) => void this.#serve(request, response))
  }

  static async open(answer: Answerer): Promise<ScriptedServer> {
    const scripted = new ScriptedServer(answer)
    await new Promise<void>((resolve) => scripted.#server.listen(0, '127.0.0.1', resolve))
    return scripted
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('a TCP server without a port')
    return `http://127.0.0.1:${address.port}`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    const seen = { method, url, headers, body: Buffer.concat(chunks) }
    const index = this.seen.push(seen) - 1
    const answer = this.#answer(seen, index)
    if (answer === 'reset') request.socket.resetAndDestroy()
    else if (answer !== 'never') response.writeHead(answer.status, answer.headers).end(answer.body)
  }
}

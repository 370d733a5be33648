import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { ConnectionLostError } from '../raw-kafka.ts'

export interface HttpAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface HttpCall {
  readonly method: string
  /** As it goes over the wire, query included: nothing is normalised or encoded. */
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | string
  /** A minute when left out. */
  readonly timeoutMs?: number
  /** Whose connections are used; those of all that say nothing are 64 to each server. */
  readonly agent?: Agent
}

const sharedAgent = new Agent({ keepAlive: true, maxSockets: 64 })

/** One request, once, without a retry. @throws ConnectionLostError when no whole answer came: what it did is unknown. */
export function httpCall(url: string, call: HttpCall): Promise<HttpAnswer> {
  const { hostname, port } = new URL(url)
  const body = Buffer.from(call.body ?? '')
  const hasLength = body.length > 0 || call.method === 'POST' || call.method === 'PUT'
  const headers = { ...call.headers, ...(hasLength ? { 'Content-Length': String(body.length) } : {}) }
  return new Promise((resolve, reject) => {
    const lost = (cause: Error) => reject(new ConnectionLostError(`${call.method} ${call.target}`, { cause }))
    const { agent = sharedAgent } = call
    const sent = request({ agent, hostname, port, method: call.method, path: call.target, headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', lost)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', lost)
    const { timeoutMs = 60_000 } = call
    sent.setTimeout(timeoutMs, () => sent.destroy(new Error(`no answer in ${timeoutMs} ms`)))
    sent.end(body)
  })
}

/** A number in a header that has to be there. */
export function numberIn(answer: HttpAnswer, header: string): number {
  const value = answer.headers[header]
  if (typeof value !== 'string' || !/^\d+(_0{16})?$/.test(value)) throw new Error(`${header}: ${value}`)
  return Number(value.split('_', 1)[0])
}

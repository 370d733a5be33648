import { connect, type Socket } from 'node:net'
import {
  type Api,
  decodeResponse,
  encodeRequest,
  type Fields,
  FrameSplitter,
  type StructInput,
  type StructOf,
} from '@pico/kafka-codec'

/** The connection ended before the answer came. Whether the request was carried out is unknown. */
export class ConnectionLostError extends Error {
  readonly code = 'E2E_CONNECTION_LOST'
}

/** The broker is there, and says nothing. */
export class NoAnswerError extends ConnectionLostError {}

/**
 * One connection that speaks the protocol and nothing more: no retries, no metadata, no negotiation, requests as they are
 * given. So a test sees exactly what a broker answers, and knows exactly what was acknowledged.
 */
export interface RawConnection {
  /** Of the broker. */
  readonly port: number
  /** Sends a request and resolves with its answer. Requests may overlap; a broker answers in order. */
  ask<Request extends Fields, Response extends Fields>(
    api: Api<Request, Response>,
    version: number,
    body: StructInput<Request>,
  ): Promise<StructOf<Response>>
  /** Sends a request that has no answer: Produce with acks=0. */
  tell<Request extends Fields, Response extends Fields>(
    api: Api<Request, Response>,
    version: number,
    body: StructInput<Request>,
  ): void
  /** Sends bytes as they are. Resolves with the payload of the next frame, undefined when the broker closes instead. */
  exchange(bytes: Uint8Array): Promise<Uint8Array | undefined>
  /** Resolves when the connection has ended, whoever ended it. */
  readonly closed: Promise<void>
  close(): void
}

export interface RawConnectionSettings {
  readonly clientId?: string | null
  /** A connection that is silent this long while an answer is due counts as lost. */
  readonly timeoutMs?: number
}

interface Waiting {
  readonly what: string
  resolve(payload: Uint8Array): void
  reject(error: Error): void
}

const maxFrameBytes = 512 * 1024 * 1024

export async function connectRaw(port: number, settings: RawConnectionSettings = {}): Promise<RawConnection> {
  const socket = await open(port)
  const { clientId = 'e2e', timeoutMs = 30_000 } = settings
  const splitter = new FrameSplitter({ maxFrameBytes })
  const waiting: Waiting[] = []
  let correlationId = 0

  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const fail = (error: ConnectionLostError) => {
    for (const each of waiting.splice(0)) each.reject(error)
    socket.destroy()
  }
  socket.on('data', (chunk: Buffer) => {
    for (const payload of splitter.push(chunk)) waiting.shift()?.resolve(payload)
  })
  socket.on('error', (cause) => fail(new ConnectionLostError(cause.message, { cause })))
  socket.on('close', () => fail(new ConnectionLostError('the broker closed the connection')))
  socket.setTimeout(timeoutMs, () => {
    const [oldest] = waiting
    if (oldest !== undefined) fail(new NoAnswerError(`${oldest.what} was not answered in ${timeoutMs} ms`))
  })

  const send = (buffers: readonly Uint8Array[]) => {
    socket.cork()
    for (const buffer of buffers) socket.write(buffer)
    socket.uncork()
  }
  const next = (what: string) => new Promise<Uint8Array>((resolve, reject) => waiting.push({ what, resolve, reject }))

  return {
    port,
    async ask(api, version, body) {
      const sent = ++correlationId
      const buffers = encodeRequest(api, version, { correlationId: sent, clientId }, body)
      if (socket.destroyed) throw new ConnectionLostError('the connection had ended')
      const answer = next(api.name)
      send(buffers)
      const { header, body: response } = decodeResponse(api, version, await answer)
      if (header.correlationId !== sent) {
        throw new Error(`${api.name}: answer ${header.correlationId} came where ${sent} was due`)
      }
      return response
    },
    tell(api, version, body) {
      send(encodeRequest(api, version, { correlationId: ++correlationId, clientId }, body))
    },
    async exchange(bytes) {
      const answer = next('what was sent')
      send([bytes])
      return answer.catch((error: unknown) => {
        if (error instanceof ConnectionLostError) return undefined
        throw error
      })
    },
    closed,
    close: () => socket.destroy(),
  }
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.once('error', (cause) => reject(new ConnectionLostError(`cannot connect to port ${port}`, { cause })))
    socket.once('connect', () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })
}

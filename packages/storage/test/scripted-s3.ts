import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openS3Connection } from '../src/s3/s3-connection.ts'
import { defaultS3Limits, type S3Limits, type S3Place } from '../src/s3/s3-settings.ts'
import { S3ObjectStore, type S3Store } from '../src/s3/s3-store.ts'

export interface SeenRequest {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** What to do with the n-th request; it is read whole before. */
export type Answer = (outgoing: ServerResponse, request: SeenRequest) => void

export interface ScriptedS3 {
  readonly store: S3Store
  readonly place: S3Place
  readonly seen: SeenRequest[]
  close(): Promise<void>
}

/** A server that answers by a script, for what no real store does when asked to: to be slow, to fail, to break off. The last answer is repeated. */
export async function openScripted(
  answers: readonly Answer[],
  limits: Partial<S3Limits> = {},
  place: Partial<S3Place> = {},
): Promise<ScriptedS3> {
  process.env['AWS_ACCESS_KEY_ID'] = 'key'
  process.env['AWS_SECRET_ACCESS_KEY'] = 'secret'
  const seen: SeenRequest[] = []
  const server = createServer((incoming, outgoing) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => parts.push(part))
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming
      const request = { method, path: url, headers, body: Buffer.concat(parts) }
      seen.push(request)
      answers[Math.min(seen.length, answers.length) - 1]?.(outgoing, request)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const whole: S3Place = { bucket: 'bucket', prefix: 'p/', endpoint: `http://127.0.0.1:${port}`, ...place }
  const quick = { ...defaultS3Limits, retryDelayMsMin: 2, retryDelayMsMax: 10, ...limits }
  const store = new S3ObjectStore({ client: openS3Connection(whole, quick), place: whole, limits: quick })
  return {
    store,
    place: whole,
    seen,
    async close() {
      await store.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export const done: Answer = (outgoing) => void outgoing.writeHead(200, { etag: '"1"' }).end()

export const silence: Answer = () => undefined

export const reset: Answer = (outgoing) => void outgoing.socket?.resetAndDestroy()

export function refusal(status: number, code: string, more = ''): Answer {
  const body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>so it is</Message>${more}</Error>`
  return (outgoing) => void outgoing.writeHead(status, { 'content-type': 'application/xml' }).end(body)
}

/** The range of `content` that is asked for. */
export function bytes(content: Buffer): Answer {
  return (outgoing, { headers }) => {
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    const part = content.subarray(Number(first), Number(last) + 1)
    const range = `bytes ${first}-${Number(first) + part.length - 1}/${content.length}`
    outgoing.writeHead(206, { 'content-range': range, 'content-length': part.length }).end(part)
  }
}

/** Announces all, sends half, and breaks off. */
export function half(content: Buffer): Answer {
  return (outgoing) => {
    const range = `bytes 0-${content.length - 1}/${content.length}`
    outgoing.writeHead(206, { 'content-range': range, 'content-length': content.length })
    outgoing.write(content.subarray(0, content.length / 2), () => outgoing.socket?.resetAndDestroy())
  }
}

export function after(ms: number, answer: Answer): Answer {
  return (outgoing, request) => void setTimeout(() => answer(outgoing, request), ms)
}

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

/**
 * What happens to requests. `stall`: no answer, for as long as it lasts and then some. `slow-down`: 503, as an overloaded S3 says it. `reset`: the
 * connection breaks. `cut`: the store does what it was asked, and half of its answer arrives. `lose-answer`: it does, and none does.
 */
export type S3Fault = 'stall' | 'slow-down' | 'error' | 'reset' | 'cut' | 'lose-answer'

export type S3Operation = 'put' | 'get' | 'list' | 'delete' | 'upload-part' | 'other'

export interface S3Request {
  readonly operation: S3Operation
  readonly path: string
  /** Of its body. */
  readonly bytes: number
}

export interface S3FaultProxy {
  readonly endpoint: string
  /** What happens to the requests that come from now on, all or those that are picked; null: they pass. */
  fault: S3Fault | null
  picks: (operation: S3Operation, path: string) => boolean
  /** All that came so far. */
  readonly requests: S3Request[]
  close(): Promise<void>
}

/** Stands before an S3 and passes requests on as they are, signatures and all: those cover the host that the client named. */
export async function startS3FaultProxy(target: string): Promise<S3FaultProxy> {
  // A signature covers the host: a store that knows its own name would not accept what is signed for the proxy's.
  if (!target.startsWith('http:')) throw new Error(`${target}: faults can be put before an http:// endpoint only`)
  const requests: S3Request[] = []
  const proxy = { fault: null as S3Fault | null, picks: (_operation: S3Operation, _path: string) => true }
  const server = createServer((incoming, outgoing) => {
    const operation = operationOf(incoming)
    requests.push({ operation, path: incoming.url ?? '', bytes: Number(incoming.headers['content-length'] ?? 0) })
    const fault = proxy.fault !== null && proxy.picks(operation, incoming.url ?? '') ? proxy.fault : null
    handle(target, fault, incoming, outgoing)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    get fault() {
      return proxy.fault
    },
    set fault(fault) {
      proxy.fault = fault
    },
    get picks() {
      return proxy.picks
    },
    set picks(picks) {
      proxy.picks = picks
    },
    requests,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function handle(target: string, fault: S3Fault | null, incoming: IncomingMessage, outgoing: ServerResponse): void {
  if (fault === 'stall') incoming.resume()
  else if (fault === 'reset') incoming.socket.resetAndDestroy()
  else if (fault === 'slow-down') refuse(incoming, outgoing, 503, 'SlowDown')
  else if (fault === 'error') refuse(incoming, outgoing, 500, 'InternalError')
  else pass(target, fault, incoming, outgoing)
}

function refuse(incoming: IncomingMessage, outgoing: ServerResponse, status: number, code: string): void {
  incoming.resume()
  incoming.once('end', () => {
    const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>injected</Message></Error>`
    outgoing.writeHead(status, { 'content-type': 'application/xml', 'content-length': body.length }).end(body)
  })
}

function pass(target: string, fault: S3Fault | null, incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { hostname, port } = new URL(target)
  const { method, url, rawHeaders } = incoming
  const forwarded = request({ hostname, port, method, path: url, headers: rawHeaders, agent: false }, (answer) => {
    if (outgoing.destroyed) {
      answer.destroy() // the client has given up meanwhile
      return
    }
    if (fault === 'lose-answer') {
      answer.resume()
      answer.once('end', () => incoming.socket.resetAndDestroy())
      return
    }
    outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
    if (fault === 'cut') {
      outgoing.flushHeaders()
      answer.once('data', (chunk: Buffer) => {
        outgoing.write(chunk.subarray(0, chunk.length / 2), () => incoming.socket.resetAndDestroy())
        answer.destroy()
      })
      answer.once('end', () => incoming.socket.destroy())
      return
    }
    pipeline(answer, outgoing, () => undefined) // whichever side broke, the other one was broken with it
  })
  forwarded.on('error', () => incoming.socket.destroy())
  pipeline(incoming, forwarded, () => undefined) // as above
}

function operationOf({ method, url = '' }: IncomingMessage): S3Operation {
  const { pathname, searchParams } = new URL(url, 'http://s3')
  if (method === 'PUT') return searchParams.has('uploadId') ? 'upload-part' : 'put'
  if (method === 'DELETE' || searchParams.has('delete')) return 'delete'
  if (method !== 'GET') return 'other'
  return searchParams.has('list-type') || pathname.split('/').length <= 2 ? 'list' : 'get'
}

import assert from 'node:assert'
import { HttpConnection } from '../../http-connection.ts'
import { Meter } from '../meter.ts'
import { appendRequest } from './append-request.ts'
import type { AppendLoad, LoadReport, LoadSpec, ReadLoad } from './load.ts'

/** A program: puts the load that its argument describes on a server, and prints a `LoadReport`. */
const spec: LoadSpec = JSON.parse(process.argv[2] ?? '')

const meter = new Meter(spec.serverPid)
let bytes = 0
let isOver = false

function note(startedAt: number, ofBytes: number): void {
  if (meter.isMeasuring) bytes += ofBytes
  meter.note(startedAt)
}

const onLost = (error: Error) => {
  if (!isOver) throw error
}

/** Resolves when its connection has had the answer to its last request. */
async function append({ port, contentType, body, expectedStatus }: AppendLoad, path: string): Promise<void> {
  const request = appendRequest(path, contentType, body)
  const ofBytes = body.recordBytes * (body.recordsPerBatch ?? 1)
  const { promise, resolve } = Promise.withResolvers<void>()
  let startedAt = 0
  const next = () => {
    startedAt = performance.now()
    connection.send(request)
  }
  const connection = await HttpConnection.open(port, {
    onEnd(head) {
      assert(head.status === expectedStatus, `an append was answered:\n${head}`)
      note(startedAt, ofBytes)
      if (isOver) resolve()
      else next()
    },
    onLost,
  })
  next()
  await promise
  connection.destroy()
}

/** Durable Streams: from the start, by what each answer says comes next, until one says that it reached the tail. */
async function read({ port, path, expectedBytes }: ReadLoad): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let startedAt = 0
  let ofBytes = 0
  const ask = (offset: string) => connection.send(`GET ${path}?offset=${offset} HTTP/1.1\r\nHost: bench\r\n\r\n`)
  const begin = () => {
    startedAt = performance.now()
    ofBytes = 0
    ask('-1')
  }
  const connection = await HttpConnection.open(port, {
    onEnd(head, bodyBytes) {
      assert(head.status === 200, `a read was answered:\n${head}`)
      ofBytes += bodyBytes
      const offset = head.header('stream-next-offset')
      if (head.header('stream-up-to-date') !== 'true') {
        assert(offset !== undefined, `no next offset:\n${head}`)
        ask(offset)
        return
      }
      assert(ofBytes >= expectedBytes, `${ofBytes} bytes were read of ${expectedBytes}`)
      note(startedAt, ofBytes)
      if (isOver) resolve()
      else begin()
    },
    onLost,
  })
  begin()
  await promise
  connection.destroy()
}

const { promise: began, resolve: begin } = Promise.withResolvers<void>()
setTimeout(begin, spec.warmupMs)
const connections = Array.from({ length: spec.connections }, (_, index) =>
  spec.kind === 'append' ? append(spec, spec.paths[index % spec.paths.length] ?? '') : read(spec),
)
await Promise.race([began, ...connections])

meter.begin()
// A reading may take longer than is measured: the clock stops with the first that ends after the time is up.
await new Promise((resolve) => setTimeout(resolve, spec.measuredMs))
while (meter.completed === 0) await new Promise((resolve) => setTimeout(resolve, 1))
const metered = meter.end()
isOver = true
await Promise.all(connections)

const report: LoadReport = { ...metered, bytes }
console.log(JSON.stringify(report))

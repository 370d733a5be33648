import assert from 'node:assert'
import { HttpConnection } from '../../http-connection.ts'
import { percentile } from '../../percentile.ts'
import { cpuSeconds } from '../../process-usage.ts'
import { appendRequest } from './append-request.ts'
import type { AppendLoad, LoadReport, LoadSpec, ReadLoad } from './load.ts'

/** A program: puts the load that its argument describes on a server, and prints a `LoadReport`. */
const spec: LoadSpec = JSON.parse(process.argv[2] ?? '')

const latencies: number[] = []
let completed = 0
let bytes = 0
let isMeasuring = false
let isOver = false

function note(startedAt: number, ofBytes: number): void {
  if (!isMeasuring) return
  completed++
  bytes += ofBytes
  latencies.push(performance.now() - startedAt)
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

isMeasuring = true
const from = performance.now()
const ownBefore = process.cpuUsage()
const serverBefore = cpuSeconds(spec.serverPid)
// A reading may take longer than is measured: the clock stops with the first that ends after the time is up.
await new Promise((resolve) => setTimeout(resolve, spec.measuredMs))
while (completed === 0) await new Promise((resolve) => setTimeout(resolve, 1))
isMeasuring = false
isOver = true
const seconds = (performance.now() - from) / 1000
const own = process.cpuUsage(ownBefore)
const serverSeconds = cpuSeconds(spec.serverPid) - serverBefore
await Promise.all(connections)

latencies.sort((a, b) => a - b)
const report: LoadReport = {
  seconds,
  completed,
  bytes,
  latencyMs: { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), max: latencies.at(-1) ?? Number.NaN },
  loadCpuShare: (own.user + own.system) / 1e6 / seconds,
  serverCpuShare: serverSeconds / seconds,
}
console.log(JSON.stringify(report))

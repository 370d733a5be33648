import { heartbeat, produce } from '@pico/kafka-codec'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HandlerBench, heartbeatOf, produceOf } from './handler-bench.ts'
import { requestBytes, WireClient } from './wire-client.ts'

let bench: HandlerBench
let neighbour: WireClient
beforeEach(async () => {
  bench = new HandlerBench()
  neighbour = await bench.listen({ requestBytesMax: 1 << 20 })
})
afterEach(() => bench.close())

async function expectNeighbourUntouched(): Promise<void> {
  neighbour.send(heartbeat, 4, heartbeatOf('neighbour'), 77)
  expect((await neighbour.answer(heartbeat, 4)).correlationId).toBe(77)
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** A frame whose header is well formed: API key, version, correlation id 1, no client id. */
function frame(apiKey: number, apiVersion: number, rest: Uint8Array = new Uint8Array(0)): Buffer {
  const header = Buffer.alloc(10)
  header.writeInt16BE(apiKey, 0)
  header.writeInt16BE(apiVersion, 2)
  header.writeInt32BE(1, 4)
  header.writeInt16BE(-1, 8)
  return Buffer.concat([int32(header.length + rest.length), header, rest])
}

const heartbeatBytes = requestBytes(heartbeat, 4, heartbeatOf('x'))

describe('what is not Kafka closes its own connection, with one debug line', () => {
  it.each([
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
    ['a TLS client hello', Buffer.from('160301020001000001fc0303', 'hex')],
    ['a negative length', int32(-1)],
    ['a length above the largest request', int32((1 << 20) + 1)],
    ['a frame without a header', Buffer.concat([int32(3), Buffer.from('abc')])],
    ['an empty frame', int32(0)],
    ['an API that is not served', frame(3, 0)],
    ['an API that does not exist', frame(12345, 0)],
    ['a version that is not served', frame(produce.key, 0)],
    ['a version that does not exist', frame(heartbeat.key, 99)],
    ['a negative version', frame(heartbeat.key, -1)],
    ['a body that ends too early', Buffer.concat([int32(heartbeatBytes.length - 9), heartbeatBytes.subarray(4, -5)])],
    [
      'an array of two thousand million elements',
      frame(produce.key, 8, Buffer.from('ffff0001000003e87fffffff', 'hex')),
    ],
  ])('%s', async (_, bytes) => {
    const client = await bench.connect()
    client.sendBytes(bytes)
    await client.closed
    await expectNeighbourUntouched()
    expect(bench.log.lines.map(({ level }) => level)).toEqual(['debug'])
    expect(bench.log.lines[0]?.fields).toMatchObject({ peer: '/127.0.0.1', reason: expect.any(String) })
  })

  it('bytes after a request, inside its frame, are ignored as Kafka ignores them', async () => {
    const client = await bench.connect()
    const padded = Buffer.concat([heartbeatBytes, Buffer.from('trailing')])
    padded.writeInt32BE(padded.length - 4, 0)
    client.sendBytes(padded)
    expect((await client.answer(heartbeat, 4)).body.errorCode).toBe(0)
  })
})

describe('a client that vanishes', () => {
  it.each([1, 3, 4, 10, heartbeatBytes.length - 1])(
    'after %i bytes of a request leaves nothing behind',
    async (length) => {
      const client = await bench.connect()
      client.sendBytes(heartbeatBytes.subarray(0, length))
      client.socket.end()
      await client.closed
      await expectNeighbourUntouched()
      expect(bench.listener.connections).toBe(1)
      expect(bench.started).toEqual(['neighbour'])
    },
  )
})

describe('random damage', () => {
  it('to requests never disturbs a neighbour, never throws, never leaks a connection', async () => {
    const good = [heartbeatBytes, requestBytes(produce, 9, produceOf('t', { records: Buffer.alloc(100, 1) }))]
    const damaged = fc
      .tuple(
        fc.constantFrom(...good),
        fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 8 }),
      )
      .map(([bytes, changes]) => {
        const copy = Buffer.from(bytes)
        for (const [at, value] of changes) copy[at % copy.length] = value
        return copy
      })
    const noise = fc.uint8Array({ minLength: 1, maxLength: 300 }).map((bytes) => Buffer.from(bytes))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(damaged, noise), { minLength: 1, maxLength: 4 }), async (parts) => {
        const client = await WireClient.connect(bench.listener.port)
        client.sendBytes(Buffer.concat(parts))
        client.socket.end()
        await client.closed
        await expectNeighbourUntouched()
      }),
      { numRuns: 300 },
    )
    expect(bench.listener.connections).toBe(1)
    // A damaged request may be one for SASL, which is worth a warning.
    const isNoise = ({ level, fields }: (typeof bench.log.lines)[number]) =>
      level === 'debug' || JSON.stringify(fields).includes('SASL')
    expect(bench.log.lines.filter((line) => !isNoise(line))).toEqual([])
  })
})

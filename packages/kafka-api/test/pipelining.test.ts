import { heartbeat, listGroups, produce } from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Gate, HandlerBench, heartbeatOf, produceOf } from './handler-bench.ts'
import { requestBytes } from './wire-client.ts'

const eventually = vi.waitFor
const noFilter = { statesFilter: [], typesFilter: [] }

const reading = [
  ['into a shared buffer', { receiveBufferBytes: 256 * 1024 }],
  ['into a small shared buffer', { receiveBufferBytes: 10_000 }],
  ["by Node's own buffers", { receiveBufferBytes: 0 }],
] as const

describe.each(reading)('reading %s,', (_, settings) => {
  let bench: HandlerBench
  beforeEach(() => {
    bench = new HandlerBench(settings)
  })
  afterEach(() => bench.close())

  describe('requests of one connection', () => {
    it('are answered in the order they came, whichever is done first', async () => {
      const slow = new Gate()
      bench.answerGates.set('slow', slow)
      const client = await bench.listen()
      client.send(heartbeat, 4, heartbeatOf('slow'), 1)
      client.send(heartbeat, 4, heartbeatOf('quick'), 2)
      client.send(heartbeat, 0, heartbeatOf('quicker'), 3)
      await eventually(() => expect(bench.started).toEqual(['slow', 'quick', 'quicker']))
      expect(client.received).toBe(0)
      slow.open()
      expect((await client.answer(heartbeat, 4)).correlationId).toBe(1)
      expect((await client.answer(heartbeat, 4)).correlationId).toBe(2)
      expect((await client.answer(heartbeat, 0)).correlationId).toBe(3)
    })

    it('start one after the other: the next waits for the ordered part of the one before, not for its answer', async () => {
      const opening = new Gate()
      const durable = new Gate()
      bench.startGates.set('first', opening)
      bench.answerGates.set('first', durable)
      const client = await bench.listen()
      client.send(produce, 9, produceOf('first'), 1)
      client.send(produce, 9, produceOf('second'), 2)
      client.send(heartbeat, 4, heartbeatOf('third'), 3)
      await eventually(() => expect(bench.started).toEqual(['first']))
      opening.open()
      await eventually(() => expect(bench.started).toEqual(['first', 'second', 'third']))
      expect(client.received).toBe(0)
      durable.open()
      for (const expected of [1, 2]) expect((await client.answer(produce, 9)).correlationId).toBe(expected)
      expect((await client.answer(heartbeat, 4)).correlationId).toBe(3)
    })

    it('with acks=0 take no place among the answers', async () => {
      const client = await bench.listen()
      client.send(produce, 9, produceOf('silent', { acks: 0 }), 1)
      client.send(heartbeat, 4, heartbeatOf('answered'), 2)
      expect((await client.answer(heartbeat, 4)).correlationId).toBe(2)
      expect(bench.started).toEqual(['silent', 'answered'])
    })

    it('are all taken from one chunk, and put together from many', async () => {
      const client = await bench.listen()
      const names = Array.from({ length: 50 }, (_, at) => `r${at}`)
      const bytes = Buffer.concat(names.map((name, at) => requestBytes(heartbeat, 4, heartbeatOf(name), at)))
      client.sendBytes(bytes.subarray(0, 1000))
      await eventually(() => expect(bench.started.length).toBeGreaterThan(0))
      for (let at = 1000; at < bytes.length; at += 7) client.sendBytes(bytes.subarray(at, at + 7))
      for (const at of names.keys()) expect((await client.answer(heartbeat, 4)).correlationId).toBe(at)
      expect(bench.started).toEqual(names)
    })

    it('have their memory back when the answer has been sent', async () => {
      bench.largeAnswerBytes = 5_000_000
      const client = await bench.listen()
      for (let at = 0; at < 3; at++) client.send(listGroups, 0, noFilter, at)
      for (let at = 0; at < 3; at++) await client.answer(listGroups, 0)
      await eventually(() => expect(bench.large).toEqual({ made: 3, free: 3 }))
    })

    it('have it back, too, when the client goes in the middle of an answer', async () => {
      bench.largeAnswerBytes = 50_000_000
      const client = await bench.listen()
      client.socket.pause()
      client.send(listGroups, 0, noFilter, 1)
      await eventually(() => expect(bench.large).toEqual({ made: 1, free: 0 }))
      client.close()
      await eventually(() => expect(bench.large.free).toBe(1))
    })

    it('have it back, too, when the client has gone before the answer', async () => {
      bench.largeAnswerBytes = 1000
      const gate = new Gate()
      bench.answerGates.set('large', gate)
      const client = await bench.listen()
      client.send(listGroups, 0, noFilter, 1)
      await eventually(() => expect(bench.started).toEqual(['large']))
      client.close()
      await eventually(() => expect(bench.observed).toContain('closed'))
      gate.open()
      await eventually(() => expect(bench.large).toEqual({ made: 1, free: 1 }))
    })

    it('are bounded while unanswered: more are neither started nor read', async () => {
      const gate = new Gate()
      bench.answerGates.set('r0', gate)
      const client = await bench.listen({ requestsInFlightMax: 4 })
      for (let at = 0; at < 10; at++) client.send(heartbeat, 4, heartbeatOf(`r${at}`), at)
      await eventually(() => expect(bench.started).toHaveLength(4))
      // far more than socket buffers hold: it can only be taken in after the answers
      const big = Array.from({ length: 30 }, (_, at) =>
        requestBytes(produce, 9, produceOf(`big${at}`, { records: Buffer.alloc(1 << 20) })),
      )
      for (const bytes of big) client.sendBytes(bytes)
      await new Promise((resolve) => setImmediate(resolve))
      expect(client.socket.writableLength).toBeGreaterThan(0)
      expect(bench.started).toHaveLength(4)
      gate.open()
      await eventually(() => expect(client.received).toBe(40), { timeout: 10_000 })
    })
  })

  describe('backpressure', () => {
    it('a request that brings records waits for room, and later ones behind it; other connections go on', async () => {
      const client = await bench.listen()
      const other = await bench.connect()
      bench.room = false
      client.send(heartbeat, 4, heartbeatOf('before'), 1)
      client.send(produce, 9, produceOf('records'), 2)
      client.send(heartbeat, 4, heartbeatOf('behind'), 3)
      expect((await client.answer(heartbeat, 4)).correlationId).toBe(1)
      other.send(heartbeat, 4, heartbeatOf('elsewhere'), 9)
      expect((await other.answer(heartbeat, 4)).correlationId).toBe(9)
      expect(bench.started).toEqual(['before', 'elsewhere'])
      bench.makeRoom()
      expect((await client.answer(produce, 9)).correlationId).toBe(2)
      expect((await client.answer(heartbeat, 4)).correlationId).toBe(3)
    })

    it('a client that does not read gets one large answer at a time and slows nobody else', async () => {
      bench.largeAnswerBytes = 16_000_000
      const client = await bench.listen()
      client.socket.pause()
      for (let at = 0; at < 5; at++) client.send(listGroups, 0, { statesFilter: [], typesFilter: [] }, at)
      const other = await bench.connect()
      other.send(heartbeat, 4, heartbeatOf('elsewhere'), 9)
      expect((await other.answer(heartbeat, 4)).correlationId).toBe(9)
      expect(bench.started.filter((name) => name === 'large')).toHaveLength(1)
      client.socket.resume()
      for (let at = 0; at < 5; at++) expect((await client.answer(listGroups, 0)).correlationId).toBe(at)
    })
  })

  describe('failures', () => {
    it.each(['crash', 'reject', 'nonsense'])(
      'a handler that fails (%s) answers UNKNOWN_SERVER_ERROR in its own body and is logged',
      async (name) => {
        const client = await bench.listen()
        client.send(heartbeat, 4, heartbeatOf(name), 1)
        client.send(heartbeat, 4, heartbeatOf('next'), 2)
        expect((await client.answer(heartbeat, 4)).body.errorCode).toBe(-1)
        expect((await client.answer(heartbeat, 4)).body.errorCode).toBe(0)
        expect(bench.log.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
      },
    )

    it('of acks=0 close the connection, the only sign there is', async () => {
      const client = await bench.listen()
      client.send(produce, 9, produceOf('bad', { acks: 0 }), 1)
      await client.closed
      expect(bench.log.lines).toMatchObject([{ level: 'debug', fields: { reason: 'it went wrong' } }])
    })
  })

  describe('the end of a connection', () => {
    it('comes when nothing moved for the idle time', async () => {
      const client = await bench.listen({ idleTimeoutMs: 50 })
      await client.closed
      expect(bench.log.lines.at(-1)).toMatchObject({ level: 'debug', message: 'Kafka connection closed: idle' })
    })

    it('does not come while a request waits for its answer', async () => {
      const gate = new Gate()
      bench.answerGates.set('parked', gate)
      const client = await bench.listen({ idleTimeoutMs: 50 })
      client.send(heartbeat, 4, heartbeatOf('parked'), 1)
      await new Promise((resolve) => setTimeout(resolve, 200))
      expect(client.isClosed).toBe(false)
      gate.open()
      expect((await client.answer(heartbeat, 4)).correlationId).toBe(1)
      await client.closed
    })

    it('lets requests at hand finish, and takes no more, when the listener closes', async () => {
      const gate = new Gate()
      bench.answerGates.set('at-hand', gate)
      const client = await bench.listen()
      client.send(heartbeat, 4, heartbeatOf('at-hand'), 1)
      await eventually(() => expect(bench.started).toEqual(['at-hand']))
      const closing = bench.listener.close(5000)
      client.send(heartbeat, 4, heartbeatOf('too-late'), 2)
      gate.open()
      expect((await client.answer(heartbeat, 4)).correlationId).toBe(1)
      await client.closed
      await closing
      expect(bench.started).toEqual(['at-hand'])
      await expect(bench.connect()).rejects.toThrow('ECONNREFUSED')
    })

    it('does not wait for a request that never ends when the listener closes', async () => {
      bench.answerGates.set('endless', new Gate())
      const client = await bench.listen()
      client.send(heartbeat, 4, heartbeatOf('endless'), 1)
      await eventually(() => expect(bench.started).toEqual(['endless']))
      await bench.listener.close(20)
      await client.closed
    })
  })
})

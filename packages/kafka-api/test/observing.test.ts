import { heartbeat, produce } from '@pico/kafka-codec'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { KafkaObserver } from '../src/index.ts'
import { HandlerBench, heartbeatOf, produceOf } from './handler-bench.ts'
import { batchOf, KafkaSystem } from './kafka-system.ts'

const eventually = vi.waitFor

describe('the listener tells its observer', () => {
  let bench: HandlerBench
  afterEach(() => bench.close())

  it('of connections, of requests when they are answered, and of the errors in answers', async () => {
    bench = new HandlerBench()
    const client = await bench.listen()
    client.send(heartbeat, 4, heartbeatOf('fine'))
    await client.answer(heartbeat, 4)
    client.send(heartbeat, 3, heartbeatOf('crash'))
    await client.answer(heartbeat, 3)
    client.send(produce, 9, produceOf('silent', { acks: 0 }))
    await eventually(() => expect(bench.observed).toHaveLength(5))
    client.close()
    await eventually(() => expect(bench.observed).toHaveLength(6))
    expect(bench.observed).toEqual([
      'opened',
      'Heartbeat 4 true true',
      'Heartbeat UNKNOWN_SERVER_ERROR',
      'Heartbeat 3 true true',
      'Produce 9 true false',
      'closed',
    ])
  })

  it('of connections that are refused because there are enough, and says so in the log once', async () => {
    bench = new HandlerBench({ connectionsMax: 1 })
    const client = await bench.listen()
    client.send(heartbeat, 4, heartbeatOf('first'))
    await client.answer(heartbeat, 4)
    for (const refused of [1, 2]) {
      const tooMany = await bench.connect()
      await tooMany.closed
      await eventually(() => expect(bench.observed.filter((told) => told === 'refused')).toHaveLength(refused))
    }
    expect(bench.listener.connections).toBe(1)
    expect(bench.log.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { fields: { connectionsMax: 1 }, message: expect.stringContaining('refused') },
    ])
    client.close()
    await eventually(() => expect(bench.listener.connections).toBe(0))
    const again = await bench.connect()
    again.send(heartbeat, 4, heartbeatOf('again'))
    await again.answer(heartbeat, 4)
  })
})

describe('with a whole system', () => {
  let system: KafkaSystem
  const errors: string[] = []
  const observer: Pick<KafkaObserver, 'errorAnswered'> = {
    errorAnswered: (apiName, errorName) => errors.push(`${apiName} ${errorName}`),
  }
  afterEach(async () => {
    errors.length = 0
    await system.close()
  })

  it('an error counts once for each partition that has it', async () => {
    system = await KafkaSystem.open({ observer })
    await system.createTopic('orders')
    await system.produce('orders', batchOf(['x']))
    expect(errors).toEqual([])
    await system.produce('missing', batchOf(['x']))
    await system.fetch('orders', 99)
    await system.createTopic('orders').catch(() => undefined)
    expect(errors).toEqual([
      'Produce UNKNOWN_TOPIC_OR_PARTITION',
      'Fetch OFFSET_OUT_OF_RANGE',
      'CreateTopics TOPIC_ALREADY_EXISTS',
    ])
  })

  it('the log names the topic that could not be written or read', async () => {
    system = await KafkaSystem.open()
    await system.createTopic('orders')
    await system.produce('orders', batchOf(['x']))
    await system.start() // what was written before is read from the store
    system.failFlushes()
    await system.produce('orders', batchOf(['y']))
    system.store.heal()
    expect(system.log.lines).toMatchObject([
      { level: 'warn', fields: { topic: 'orders', partition: 0, err: { code: 'PICO_LOG_APPEND_FAILED' } } },
    ])
    system.store.inject({ operation: 'get', fault: { kind: 'fail-before', code: 'EIO' } })
    expect(await system.fetch('orders', 0)).toMatchObject({ errorCode: 56 })
    expect(system.log.lines.at(-1)).toMatchObject({
      level: 'warn',
      fields: { topic: 'orders', partition: 0, err: { code: 'PICO_LOG_READ_FAILED' } },
    })
  })
})

import { zeroUuid } from '@pico/binary'
import { fetch, initProducerId, produce } from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { batchOf, fetchRequest, KafkaSystem, produceRequest, readValues } from './kafka-system.ts'
import { oldMessageSet } from './old-message-set.ts'

let system: KafkaSystem
let topicId: string
beforeEach(async () => {
  system = await KafkaSystem.open()
  topicId = await system.createTopic('t')
})
afterEach(async () => {
  expect(system.errors).toEqual([])
  await system.close()
})

describe('Produce', () => {
  it.each([3, 5, 7, 8, 9, 10, 11, 12])('version %i appends, and says where', async (version) => {
    expect(await system.produce('t', batchOf(['a', 'b']), { version })).toMatchObject({
      errorCode: 0,
      baseOffset: 0n,
      logAppendTimeMs: -1n,
    })
    expect(await system.produce('t', batchOf(['c']), { version })).toMatchObject({ errorCode: 0, baseOffset: 2n })
    expect(await readValues((await system.fetch('t', 0)).records)).toEqual([
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
    ])
  })

  it('version 13 knows topics by id', async () => {
    const request = (id: string) => ({
      acks: -1,
      timeoutMs: 1000,
      topicData: [{ name: '', topicId: id, partitionData: [{ index: 0, records: batchOf(['a']) }] }],
    })
    const good = await system.call(produce, 13, request(topicId))
    expect(good.responses[0]).toMatchObject({ topicId, partitionResponses: [{ errorCode: 0, baseOffset: 0n }] })
    for (const unknown of [zeroUuid, '12345678-1234-1234-1234-123456789012']) {
      const bad = await system.call(produce, 13, request(unknown))
      expect(bad.responses[0]).toMatchObject({
        topicId: unknown,
        partitionResponses: [{ errorCode: 100, baseOffset: -1n }],
      })
    }
  })

  it.each([0, 1, 2])('version %i takes old message sets and stores one v2 batch', async (version) => {
    expect(await system.produce('t', oldMessageSet(version === 0 ? 0 : 1, ['x', 'y']), { version })).toMatchObject({
      errorCode: 0,
      baseOffset: 0n,
    })
    expect(await readValues((await system.fetch('t', 0)).records)).toEqual([
      [0, 'x'],
      [1, 'y'],
    ])
  })

  it('is durable when answered: what was acknowledged is there in the next run', async () => {
    await system.produce('t', batchOf(['kept']))
    await system.start()
    expect(await readValues((await system.fetch('t', 0)).records)).toEqual([[0, 'kept']])
  })

  it('judges each partition alone', async () => {
    const good = batchOf(['a'])
    const request = {
      acks: -1,
      timeoutMs: 1000,
      topicData: [
        {
          name: 't',
          topicId: zeroUuid,
          partitionData: [
            { index: 7, records: good },
            { index: 0, records: good },
          ],
        },
        { name: 'missing', topicId: zeroUuid, partitionData: [{ index: 0, records: good }] },
      ],
    }
    const { responses } = await system.call(produce, 9, request)
    expect(
      responses.map(({ name, partitionResponses }) => [
        name,
        partitionResponses.map(({ index, errorCode, baseOffset }) => [index, errorCode, baseOffset]),
      ]),
    ).toEqual([
      [
        't',
        [
          [7, 3, -1n],
          [0, 0, 0n],
        ],
      ],
      ['missing', [[0, 3, -1n]]],
    ])
  })

  it('says where the log starts, from version 5 on', async () => {
    await system.produce('t', batchOf(['a', 'b', 'c']))
    const partition = await system.streams.partition({ name: 't' }, 0)
    if (typeof partition === 'string') throw new Error(partition)
    await partition.trim(2)
    expect((await system.produce('t', batchOf(['d']), { version: 8 })).logStartOffset).toBe(2n)
  })

  it('stamps records itself where the topic says LogAppendTime, and says when', async () => {
    await system.createTopic('stamped', { 'message.timestamp.type': 'LogAppendTime' })
    const { logAppendTimeMs } = await system.produce('stamped', batchOf(['a']))
    expect(logAppendTimeMs).toBe(BigInt(system.clock.nowMs()))
  })
})

describe('Produce refuses', () => {
  const good = batchOf(['a', 'b'])
  const changed = (change: (batch: Buffer) => void) => {
    const batch = Buffer.from(good)
    change(batch)
    return batch
  }
  const magicAt = 16
  it.each([
    ['no batch', Buffer.alloc(0), 87],
    ['null records', null, 87],
    ['an old magic in version 3 and later', oldMessageSet(1, ['x']), 87],
    ['an unknown magic', changed((batch) => batch.writeInt8(3, magicAt)), 2],
    ['two batches', Buffer.concat([good, good]), 87],
    ['a wrong CRC', changed((batch) => batch.writeUInt8(batch.readUInt8(batch.length - 1) ^ 1, batch.length - 1)), 2],
    ['a base offset', batchOf(['a'], { baseOffset: 5 }), 87],
    ['a control batch', batchOf(['a'], { isControl: true, producerId: 1, producerEpoch: 0, baseSequence: 0 }), 87],
    [
      'a transactional batch',
      batchOf(['a'], { isTransactional: true, producerId: 1, producerEpoch: 0, baseSequence: 0 }),
      87,
    ],
    ['more bytes than max.message.bytes', batchOf(['x'.repeat(1_100_000)]), 10],
    ['a record of the far future', batchOf([{ value: 'a', timestamp: 1_700_000_000_000 + 2 * 3_600_000 }]), 32],
  ])('%s', async (_, records, errorCode) => {
    expect(await system.produce('t', records)).toMatchObject({ errorCode, baseOffset: -1n, logAppendTimeMs: -1n })
    expect(await system.listOffset('t', -1)).toMatchObject({ offset: 0n })
  })

  it('telling where the log starts only when it was the log that refused, as Kafka does', async () => {
    const ofTheRequest = [Buffer.alloc(0), oldMessageSet(1, ['x']), Buffer.concat([good, good])]
    for (const records of ofTheRequest) expect((await system.produce('t', records)).logStartOffset).toBe(-1n)
    const ofTheLog = [
      batchOf(['a'], { isControl: true, producerId: 1, producerEpoch: 0, baseSequence: 0 }),
      batchOf([{ value: 'a', timestamp: 1_700_000_000_000 + 2 * 3_600_000 }]),
    ]
    for (const records of ofTheLog) expect((await system.produce('t', records)).logStartOffset).toBe(0n)
    const tooLarge = batchOf(['x'.repeat(1_100_000)])
    expect(await system.produce('t', tooLarge)).toMatchObject({ errorCode: 10, logStartOffset: -1n })
  })

  it('zstd before version 7, which cannot name it', async () => {
    const zstd = batchOf(['a'], { codec: 'zstd' })
    expect((await system.produce('t', zstd, { version: 6 })).errorCode).toBe(76)
    expect((await system.produce('t', zstd, { version: 7 })).errorCode).toBe(0)
  })

  it('a record without key on a compacted topic, naming it from version 8 on', async () => {
    await system.createTopic('compacted', { 'cleanup.policy': 'compact' })
    const batch = batchOf([{ key: 'k', value: 'v' }, { value: 'v' }])
    const refused = await system.produce('compacted', batch, { version: 8 })
    expect(refused).toMatchObject({
      errorCode: 87,
      recordErrors: [{ batchIndex: 1, batchIndexErrorMessage: expect.any(String) }],
    })
    expect(refused.errorMessage).toEqual(expect.any(String))
    expect(await system.produce('compacted', batch, { version: 7 })).toMatchObject({
      errorCode: 87,
      recordErrors: [],
      errorMessage: null,
    })
  })

  it.each([2, -2, 42])('acks=%i for every partition', async (acks) => {
    expect(await system.produce('t', good, { acks })).toMatchObject({ errorCode: 21, baseOffset: -1n })
    expect(await system.listOffset('t', -1)).toMatchObject({ offset: 0n })
  })

  it('a transactional id, with an error that clients treat as final', async () => {
    expect(await system.produce('t', good, { transactionalId: 'tx' })).toMatchObject({ errorCode: 53, baseOffset: -1n })
    expect(await system.listOffset('t', -1)).toMatchObject({ offset: 0n })
  })
})

describe('acks=0', () => {
  it('gets no answer, and what was sent is readable', async () => {
    await expect(system.call(produce, 9, produceRequest('t', batchOf(['a']), 0))).rejects.toThrow('no answer')
    expect(await system.listOffset('t', -1)).toMatchObject({ offset: 1n })
  })

  it.each([
    ['a topic that is missing', 'missing', batchOf(['a'])],
    ['a batch that is refused', 't', Buffer.from('not a batch')],
  ])('closes the connection for %s', async (_, topic, records) => {
    await expect(system.call(produce, 9, produceRequest(topic, records, 0))).rejects.toThrow(
      /Produce with acks=0 failed/,
    )
  })
})

describe('what the store or the database cannot do now', () => {
  it('a failed flush is an error that every client retries, and leaves no trace', async () => {
    await system.produce('t', batchOf(['before']))
    system.failFlushes()
    expect(await system.produce('t', batchOf(['lost']))).toMatchObject({ errorCode: 20, baseOffset: -1n })
    expect(await system.produce('t', batchOf(['lost too']))).toMatchObject({ errorCode: 20 })
    const warnings = () => system.log.lines.filter(({ level }) => level === 'warn')
    expect(warnings()).toMatchObject([{ fields: { unsaid: 0 }, message: expect.stringContaining('try again') }])
    system.clock.advance(1000)
    await system.produce('t', batchOf(['lost again']))
    expect(warnings()).toMatchObject([{}, { fields: { unsaid: 1 } }])
    system.store.heal()
    expect(await system.produce('t', batchOf(['after']))).toMatchObject({ errorCode: 0, baseOffset: 1n })
    expect(await readValues((await system.fetch('t', 0)).records)).toEqual([
      [0, 'before'],
      [1, 'after'],
    ])
  })

  it('acks=all waits no longer than timeout.ms, and the records may land later', async () => {
    await system.produce('t', batchOf(['before']))
    system.holdFlushes()
    const answer = system.call(produce, 9, produceRequest('t', batchOf(['late']), -1, 500))
    await new Promise((resolve) => setImmediate(resolve))
    system.clock.advance(500)
    expect((await answer).responses[0]?.partitionResponses[0]).toMatchObject({ errorCode: 7, baseOffset: -1n })
    system.store.heal()
    await system.produce('t', batchOf(['next']))
    expect(await readValues((await system.fetch('t', 0)).records)).toEqual([
      [0, 'before'],
      [1, 'late'],
      [2, 'next'],
    ])
  })
})

describe('idempotent producers', () => {
  const batch = (baseSequence: number, producerEpoch = 0) =>
    batchOf(['a'], { producerId: 1, producerEpoch, baseSequence })

  it('repeat a batch and get its offset again; gaps and old epochs are refused', async () => {
    expect((await system.produce('t', batch(0))).baseOffset).toBe(0n)
    expect((await system.produce('t', batch(1))).baseOffset).toBe(1n)
    expect(await system.produce('t', batch(0))).toMatchObject({ errorCode: 0, baseOffset: 0n })
    expect(await system.produce('t', batch(5))).toMatchObject({ errorCode: 45, baseOffset: -1n })
    expect((await system.produce('t', batch(0, 1))).baseOffset).toBe(2n)
    expect(await system.produce('t', batch(1, 0))).toMatchObject({ errorCode: 47, baseOffset: -1n })
  })

  it('pipelined batches are in order although the partition has to be opened first', async () => {
    await system.start()
    const answers = await Promise.all([0, 1, 2, 3, 4].map((sequence) => system.produce('t', batch(sequence))))
    expect(answers.map(({ errorCode, baseOffset }) => [errorCode, baseOffset])).toEqual(
      [0, 1, 2, 3, 4].map((offset) => [0, BigInt(offset)]),
    )
  })

  it('get ids that were never given out before, over restarts too', async () => {
    const allocate = () => system.call(initProducerId, 4, { transactionalId: null, transactionTimeoutMs: 0 })
    const first = await allocate()
    expect(first).toMatchObject({ errorCode: 0, producerEpoch: 0 })
    const again = await system.call(initProducerId, 4, {
      transactionalId: null,
      transactionTimeoutMs: 0,
      producerId: first.producerId,
      producerEpoch: 3,
    })
    expect(again).toMatchObject({ errorCode: 0, producerEpoch: 0 })
    await system.start()
    const later = await allocate()
    expect(new Set([first.producerId, again.producerId, later.producerId]).size).toBe(3)
  })

  it.each([
    ['a transactional id', { transactionalId: 'tx' }, 53],
    ['an empty transactional id', { transactionalId: '' }, 42],
    ['an id without an epoch', { transactionalId: null, producerId: 5n }, 42],
    ['an epoch without an id', { transactionalId: null, producerEpoch: 5 }, 42],
  ])('are refused %s', async (_, given, errorCode) => {
    expect(await system.call(initProducerId, 5, { transactionTimeoutMs: 0, ...given })).toMatchObject({
      errorCode,
      producerId: -1n,
    })
  })
})

it('zstd is not given to a Fetch that cannot name it', async () => {
  await system.produce('t', batchOf(['a'], { codec: 'zstd' }))
  const old = await system.call(fetch, 9, fetchRequest([{ topic: 't', offset: 0 }], { version: 9 }))
  expect(old.responses[0]?.partitions[0]).toMatchObject({ errorCode: 76, records: new Uint8Array(0) })
  expect((await system.fetch('t', 0, { version: 10 })).errorCode).toBe(0)
})

import { zeroUuid } from '@pico/binary'
import { deleteTopics, produce } from '@pico/kafka-codec'
import { type BatchFields, encodeBatch } from '../test-batch.ts'
import { errorText, type ProduceSettings, type Scenario, type Session } from './session.ts'

const maxSequence = 2 ** 31 - 1

/** Kafka's rules for producers with an id (kafka-compat 2.3), one scenario a rule. */
export const idempotence: readonly Scenario[] = [
  {
    name: 'duplicates among the last five batches, and older ones',
    async run(session) {
      const send = await idempotentProducer(session)
      for (let batch = 0; batch < 6; batch++) {
        await session.note(`batch ${batch}`, () => send({ sequence: 2 * batch, count: 2 }))
      }
      await session.note('the last again', () => send({ sequence: 10, count: 2 }))
      await session.note('the second, the oldest of five', () => send({ sequence: 2, count: 2 }))
      await session.note('the first, the sixth from the end', () => send({ sequence: 0, count: 2 }))
      await session.note('then the next', () => send({ sequence: 12, count: 1 }))
      await session.note('end', () => session.endOffset())
    },
  },
  {
    name: 'a gap, and the batch that was due after it',
    async run(session) {
      const send = await idempotentProducer(session)
      await session.note('first', () => send({ sequence: 0, count: 1 }))
      await session.note('after a gap', () => send({ sequence: 5, count: 1 }))
      await session.note('again', () => send({ sequence: 5, count: 1 }))
      await session.note('the one due', () => send({ sequence: 1, count: 1 }))
      await session.note('end', () => session.endOffset())
    },
  },
  {
    name: 'batches that overlap one that is there',
    async run(session) {
      const send = await idempotentProducer(session)
      await session.note('first', () => send({ sequence: 0, count: 3 }))
      await session.note('its front', () => send({ sequence: 0, count: 2 }))
      await session.note('more than it', () => send({ sequence: 0, count: 4 }))
      await session.note('its end and one more', () => send({ sequence: 1, count: 3 }))
      await session.note('end', () => session.endOffset())
    },
  },
  {
    name: 'an unknown producer may start anywhere',
    async run(session) {
      const send = await idempotentProducer(session)
      await session.note('sequence 100', () => send({ sequence: 100, count: 2 }))
      await session.note('sequence 102', () => send({ sequence: 102, count: 1 }))
      await session.note('sequence 0', () => send({ sequence: 0, count: 1 }))
    },
  },
  {
    name: 'an unknown producer of a later epoch may start anywhere',
    async run(session) {
      const send = await idempotentProducer(session)
      await session.note('epoch 7, sequence 100', () => send({ sequence: 100, count: 2, epoch: 7 }))
      await session.note('epoch 6, sequence 102', () => send({ sequence: 102, count: 2, epoch: 6 }))
    },
  },
  {
    name: 'stale and newer epochs',
    async run(session) {
      const send = await idempotentProducer(session)
      await session.note('epoch 0', () => send({ sequence: 0, count: 1 }))
      await session.note('epoch 1 with a sequence past zero', () => send({ sequence: 1, count: 1, epoch: 1 }))
      await session.note('still epoch 0', () => send({ sequence: 1, count: 1 }))
      await session.note('epoch 1 from zero', () => send({ sequence: 0, count: 1, epoch: 1 }))
      await session.note('epoch 0 again, as a duplicate', () => send({ sequence: 1, count: 1 }))
      await session.note('epoch 0 again, the next', () => send({ sequence: 2, count: 1 }))
      await session.note('epoch 1 goes on', () => send({ sequence: 1, count: 1, epoch: 1 }))
      await session.note('epoch 5 from zero', () => send({ sequence: 0, count: 1, epoch: 5 }))
      await session.note('epoch 32767 from zero', () => send({ sequence: 0, count: 1, epoch: 32_767 }))
      await session.note('end', () => session.endOffset())
    },
  },
  {
    name: 'sequences wrap at 2^31 between batches',
    async run(session) {
      const send = await idempotentProducer(session)
      await session.note('up to the last', () => send({ sequence: maxSequence - 1, count: 2 }))
      await session.note('from zero', () => send({ sequence: 0, count: 2 }))
      await session.note('the batch before the wrap again', () => send({ sequence: maxSequence - 1, count: 2 }))
      await session.note('a gap after the wrap', () => send({ sequence: 3, count: 1 }))
      await session.note('the next', () => send({ sequence: 2, count: 1 }))
    },
  },
  {
    name: 'sequences wrap at 2^31 inside a batch',
    async run(session) {
      const send = await idempotentProducer(session)
      await session.note('across the wrap', () => send({ sequence: maxSequence - 1, count: 5 }))
      await session.note('the same again', () => send({ sequence: maxSequence - 1, count: 5 }))
      await session.note('sequence 4', () => send({ sequence: 4, count: 1 }))
      await session.note('sequence 3', () => send({ sequence: 3, count: 1 }))
    },
  },
  {
    name: 'pipelined batches, one of them twice',
    async run(session) {
      const producerId = await producerIn(session)
      const connection = await session.connection()
      const sequences = [0, 1, 1, 2, 5, 3]
      const answers = sequences.map((sequence) =>
        connection.ask(produce, 9, {
          acks: -1,
          timeoutMs: 10_000,
          topicData: [
            {
              name: session.topic,
              topicId: zeroUuid,
              partitionData: [{ index: 0, records: encodeBatch(batchOf(producerId, { sequence, count: 1 })) }],
            },
          ],
        }),
      )
      const got = await Promise.all(answers)
      await session.note('answers', async () =>
        got.map(({ responses }) => {
          const partition = responses[0]?.partitionResponses[0]
          return `${errorText(partition?.errorCode ?? -1)} at ${partition?.baseOffset}`
        }),
      )
    },
  },
  {
    name: 'two producers on one topic do not disturb each other',
    async run(session) {
      const one = await idempotentProducer(session)
      const other = await idempotentProducer(session, { made: true })
      await session.note('one: 0', () => one({ sequence: 0, count: 1 }))
      await session.note('other: 0', () => other({ sequence: 0, count: 2 }))
      await session.note('one: 1', () => one({ sequence: 1, count: 1 }))
      await session.note('other: 0 again', () => other({ sequence: 0, count: 2 }))
      await session.note('one: 0 again', () => one({ sequence: 0, count: 1 }))
      await session.note('other: gap', () => other({ sequence: 3, count: 1 }))
    },
  },
  {
    name: 'a refused batch leaves no trace in the producer',
    async run(session) {
      const producerId = await producerIn(session)
      const send = (fields: Partial<BatchFields>, sequence: number) =>
        session.produce({ ...batchOf(producerId, { sequence, count: 1 }), ...fields })
      await session.note('first', () => send({}, 0))
      await session.note('wrong CRC', () => send({ crc: 1 }, 1))
      await session.note('wrong count', () => send({ recordCount: 2 }, 1))
      await session.note('newer epoch, wrong CRC', () => send({ crc: 1, producerEpoch: 3 }, 0))
      await session.note('the same, right', () => send({}, 1))
    },
  },
  {
    name: 'ids without sequence, sequences without id',
    async run(session) {
      const producerId = await producerIn(session)
      const batch = batchOf(producerId, { sequence: 0, count: 1 })
      await session.note('sequence -1', () => session.produce({ ...batch, baseSequence: -1 }))
      await session.note('sequence -2', () => session.produce({ ...batch, baseSequence: -2 }))
      await session.note('epoch -1', () => session.produce({ ...batch, producerEpoch: -1 }))
      await session.note('no id, a sequence', () => session.produce({ ...batch, producerId: -1n }))
      await session.note('an id that nobody was given', () => session.produce({ ...batch, producerId: 987_654_321n }))
      await session.note('end', () => session.endOffset())
    },
  },
  {
    name: 'a topic deleted and made again knows no producer',
    async run(session) {
      const send = await idempotentProducer(session)
      await session.note('first', () => send({ sequence: 0, count: 1 }))
      await session.note('second', () => send({ sequence: 1, count: 1 }))
      const connection = await session.connection()
      await connection.ask(deleteTopics, 5, { topicNames: [session.topic], timeoutMs: 10_000, topics: [] })
      await session.makeTopic()
      await session.note('the second again, in the new topic', () => send({ sequence: 1, count: 1 }))
      await session.note('the first again', () => send({ sequence: 0, count: 1 }))
    },
  },
  ...(['stop', 'kill'] as const).map(
    (how): Scenario => ({
      name: `producers are known after a restart (${how})`,
      async run(session) {
        const send = await idempotentProducer(session)
        for (let batch = 0; batch < 7; batch++) {
          await session.note(`batch ${batch}`, () => send({ sequence: batch, count: 1 }))
        }
        await session.restart(how)
        await session.note('the last again', () => send({ sequence: 6, count: 1 }))
        await session.note('the oldest of five again', () => send({ sequence: 2, count: 1 }))
        await session.note('the sixth from the end', () => send({ sequence: 1, count: 1 }))
        await session.note('a gap', () => send({ sequence: 9, count: 1 }))
        await session.note('the next', () => send({ sequence: 7, count: 1 }))
        await session.note('end', () => session.endOffset())
      },
    }),
  ),
]

interface SequencedBatch {
  readonly sequence: number
  readonly count: number
  readonly epoch?: number
}

type Send = (batch: SequencedBatch, settings?: ProduceSettings) => ReturnType<Session['produce']>

async function idempotentProducer(session: Session, { made = false } = {}): Promise<Send> {
  const producerId = made ? await session.newProducerId() : await producerIn(session)
  return (batch, settings) => session.produce(batchOf(producerId, batch), settings)
}

/** Makes the topic, and asks for a producer id. */
async function producerIn(session: Session): Promise<bigint> {
  await session.makeTopic()
  return session.newProducerId()
}

function batchOf(producerId: bigint, { sequence, count, epoch = 0 }: SequencedBatch): BatchFields {
  const records = Array.from({ length: count }, (_, index) => ({ value: Buffer.from(`${sequence}+${index}`) }))
  return { records, producerId, producerEpoch: epoch, baseSequence: sequence }
}

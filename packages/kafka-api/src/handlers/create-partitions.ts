import { type CreatePartitionsRequest, createPartitions, kafkaErrors } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'
import { withoutRepeats } from '../repeated-keys.ts'

/*
 * CreatePartitions 0-3 (KIP-195, kafka-compat 2.9): raises the number of partitions of a topic, up to what the operator allows
 * (--kafka-max-partitions; 1 unless raised: INVALID_PARTITIONS with a message that says so). Each new partition is a stream of its own,
 * and is there when this is answered. Each topic is judged alone.
 * Left out: the timeout, since it is one transaction; controller mutation quotas (v3).
 */

type Asked = CreatePartitionsRequest['topics'][number]

interface Answer {
  readonly name: string
  readonly errorCode: number
  readonly errorMessage: string | null
}

export function createPartitionsHandler({ streams, cluster, explain }: Dependencies): Handler {
  return handler({
    api: createPartitions,
    versions: [0, 3],
    async handle({ topics, validateOnly }) {
      const { firsts, repeated } = withoutRepeats(topics, ({ name }) => name)
      const results = firsts.map((topic) =>
        repeated.has(topic.name)
          ? refused(topic.name, kafkaErrors.invalidRequest.code, 'Duplicate topic name.')
          : createOne(topic, validateOnly),
      )
      return { throttleTimeMs: 0, results: await Promise.all(results) }
    },
    fail: ({ topics }, errorCode) => ({
      throttleTimeMs: 0,
      results: topics.map(({ name }) => refused(name, errorCode, null)),
    }),
  })

  async function createOne(asked: Asked, validateOnly: boolean): Promise<Answer> {
    const { name, count, assignments } = asked
    try {
      const only = validateOnly || assignments !== null
      const { altered, refused: refusal } = await streams.createPartitions({ name }, count, only)
      if (refusal?.kind === 'unknown-topic') {
        return refused(
          name,
          kafkaErrors.unknownTopicOrPartition.code,
          'This server does not host this topic-partition.',
        )
      }
      if (refusal !== undefined) return refused(name, kafkaErrors.invalidPartitions.code, refusal.message)
      if (assignments === null) return { name, errorCode: 0, errorMessage: null }
      const problem = assignmentProblem(assignments, count - altered.partitions.length)
      if (problem !== null) return refused(name, kafkaErrors.invalidReplicaAssignment.code, problem)
      if (validateOnly) return { name, errorCode: 0, errorMessage: null }
      return await createOne({ name, count, assignments: null }, false)
    } catch (error) {
      return refused(name, explain(error, 'manage'), 'The partitions could not be created now.')
    }
  }

  /** A replica is where the node is that leads; naming it is allowed, and says nothing new. */
  function assignmentProblem(assignments: NonNullable<Asked['assignments']>, added: number): string | null {
    const known = new Set(cluster.brokers().map(({ nodeId }) => nodeId))
    if (assignments.length !== added) {
      return `Attempted to add ${added} additional partition(s), but only ${assignments.length} assignment(s) were specified.`
    }
    if (assignments.some(({ brokerIds }) => brokerIds.length !== 1)) {
      return 'The manual partition assignment has another number of replicas than the topic, which has one.'
    }
    if (assignments.some(({ brokerIds }) => brokerIds.some((brokerId) => !known.has(brokerId)))) {
      return 'The manual partition assignment includes an unknown broker.'
    }
    return null
  }
}

function refused(name: string, errorCode: number, errorMessage: string | null): Answer {
  return { name, errorCode, errorMessage }
}

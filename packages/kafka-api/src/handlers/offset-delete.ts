import type { DeleteOffsetsResponse } from '@pico/group-coordinator'
import { kafkaErrors, type OffsetDeleteRequest, offsetDelete, type ResponseInput } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { submittedInTurn } from '../groups/answered-in-turn.ts'
import { type KnownTopics, knownTopics } from '../groups/known-topics.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * OffsetDelete 0 (KIP-496, kafka-compat 2.8): offsets of topics that the group's members do not subscribe to. Answered when durable; a
 * partition without an offset is no error, one that does not exist is.
 */

type Response = ResponseInput<typeof offsetDelete>

export function offsetDeleteHandler({ groups, streams, explain }: Dependencies): Handler {
  return handler({
    api: offsetDelete,
    versions: [0, 0],
    handle: (request) =>
      submittedInTurn(submit(request).catch((error: unknown) => ({ answer: refused(explain(error, 'coordinate')) }))),
    fail: (_, errorCode) => refused(errorCode),
  })

  async function submit(request: OffsetDeleteRequest): Promise<{ answer: Response | Promise<Response> }> {
    const known = await knownTopics(
      streams,
      request.topics.map(({ name }) => name),
    )
    const topics = existing(request, known)
    const answer = groups.ask(request.groupId, { kind: 'deleteOffsets', topics })
    return { answer: answer.then((response) => respond(request, known, response)) }
  }
}

function existing({ topics }: OffsetDeleteRequest, known: KnownTopics) {
  return topics.flatMap(({ name, partitions }) => {
    const indexes = partitions.map(({ partitionIndex }) => partitionIndex).filter((index) => known.has(name, index))
    return indexes.length === 0 ? [] : [{ topic: name, partitions: indexes }]
  })
}

function respond(request: OffsetDeleteRequest, known: KnownTopics, response: DeleteOffsetsResponse): Response {
  if (response.errorCode !== 0) return refused(response.errorCode)
  // In the order of what was asked of the group, which is in the order of the request.
  const answered = response.topics.flatMap(({ partitions }) => partitions)[Symbol.iterator]()
  const topics = request.topics.map(({ name, partitions }) => ({
    name,
    partitions: partitions.map(({ partitionIndex }) => ({
      partitionIndex,
      errorCode: known.has(name, partitionIndex)
        ? answered.next().value!.errorCode
        : kafkaErrors.unknownTopicOrPartition.code,
    })),
  }))
  return { errorCode: 0, throttleTimeMs: 0, topics }
}

function refused(errorCode: number): Response {
  return { errorCode, throttleTimeMs: 0, topics: [] }
}

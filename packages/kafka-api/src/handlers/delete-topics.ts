import { zeroUuid } from '@pico/binary'
import { type DeleteTopicsRequest, deleteTopics, kafkaErrors } from '@pico/kafka-codec'
import type { TopicRef } from '@pico/streams'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'
import { withoutRepeats } from '../repeated-keys.ts'

/*
 * DeleteTopics 0-6 (kafka-compat 2.9): the name is free again, and waiting fetches have their answer, when this one is sent. v5: error
 * text. v6: by name or by id. Each topic is judged alone.
 * Left out: the timeout, since a deletion is one transaction; delete.topic.enable.
 */

type Asked = DeleteTopicsRequest['topics'][number]

export function deleteTopicsHandler({ streams, explain }: Dependencies): Handler {
  return handler({
    api: deleteTopics,
    versions: [0, 6],
    async handle(request, { apiVersion }) {
      const { firsts, repeated } = withoutRepeats(askedOf(request, apiVersion), keyOf)
      const responses = firsts.map((topic) => deleteOne(topic, repeated.has(keyOf(topic))))
      return { throttleTimeMs: 0, responses: await Promise.all(responses) }
    },
    fail: (request, errorCode, { apiVersion }) => ({
      throttleTimeMs: 0,
      responses: askedOf(request, apiVersion).map((topic) => ({ ...topic, errorCode, errorMessage: null })),
    }),
  })

  async function deleteOne(topic: Asked, isRepeated: boolean) {
    const { name, topicId } = topic
    const malformed = whatIsWrong(topic, isRepeated)
    if (malformed !== null)
      return { name, topicId, errorCode: kafkaErrors.invalidRequest.code, errorMessage: malformed }
    try {
      const ref: TopicRef = name === null ? { topicId } : { name }
      const [found] = await streams.describeTopics([ref])
      if (found !== undefined && (await streams.deleteTopic({ topicId: found.topicId }))) {
        return { name: found.name, topicId: found.topicId, errorCode: 0, errorMessage: null }
      }
      return name === null
        ? {
            name,
            topicId,
            errorCode: kafkaErrors.unknownTopicId.code,
            errorMessage: 'This server does not host this topic ID.',
          }
        : {
            name,
            topicId,
            errorCode: kafkaErrors.unknownTopicOrPartition.code,
            errorMessage: 'This server does not host this topic-partition.',
          }
    } catch (error) {
      return { name, topicId, errorCode: explain(error, 'manage'), errorMessage: null }
    }
  }
}

function askedOf(request: DeleteTopicsRequest, apiVersion: number): Asked[] {
  if (apiVersion >= 6) return request.topics.map(({ name, topicId }) => ({ name, topicId }))
  return request.topicNames.map((name) => ({ name, topicId: zeroUuid }))
}

/** Topics are the same if they go by the same name, or by the same id. */
function keyOf({ name, topicId }: Asked): string {
  return name === null ? `id ${topicId}` : `name ${name}`
}

function whatIsWrong({ name, topicId }: Asked, isRepeated: boolean): string | null {
  if (name === null && topicId === zeroUuid) return 'Neither topic name nor id were specified.'
  if (name !== null && topicId !== zeroUuid) return 'You may not specify both topic name and topic id.'
  return isRepeated ? 'Duplicate topic name or id.' : null
}

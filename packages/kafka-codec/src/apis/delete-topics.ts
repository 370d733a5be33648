import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string, uuid } from '../field.ts'

/**
 * Deletes topics, by name or by id.
 *
 * - v1 adds the throttle time.
 * - v3 adds the error TOPIC_DELETION_DISABLED.
 * - v5 adds error messages and the error THROTTLING_QUOTA_EXCEEDED (KIP-599).
 * - v6 names topics by name or by id: `topics` takes the place of `topicNames`.
 */
export const deleteTopics = api({
  key: 20,
  name: 'DeleteTopics',
  versions: [0, 6],
  flexibleFrom: 4,
  request: {
    topics: array(
      {
        name: string({ nullable: '6+', default: null }),
        topicId: uuid(),
      },
      { versions: '6+' },
    ),
    topicNames: array(string(), { versions: '0-5', ignorable: true }),
    /** The length of time in milliseconds to wait for the deletions to complete. */
    timeoutMs: int32(),
  },
  response: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    responses: array({
      name: string({ nullable: '6+' }),
      topicId: uuid({ versions: '6+', ignorable: true }),
      errorCode: int16(),
      errorMessage: string({ versions: '5+', nullable: '5+', default: null, ignorable: true }),
    }),
  },
})

export type DeleteTopicsRequest = RequestOf<typeof deleteTopics>
export type DeleteTopicsResponse = ResponseOf<typeof deleteTopics>

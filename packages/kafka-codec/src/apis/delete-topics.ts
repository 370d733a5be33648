import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, int16, int32, string, uuid } from '../field.ts'

/**
 * Deletes topics, by name or by id.
 *
 * - v1 adds the throttle time.
 * - v3 a TOPIC_DELETION_DISABLED error code may be returned.
 * - v5 adds ErrorMessage in the response and may return a THROTTLING_QUOTA_EXCEEDED error in the response if the
 *   topics deletion is throttled (KIP-599).
 * - v6 reorganizes topics, adds topic IDs and allows topic names to be null; adds topic ID to responses. An
 *   UNSUPPORTED_VERSION error code will be returned when attempting to delete using topic IDs when IBP < 2.8.
 *   UNKNOWN_TOPIC_ID error code will be returned when IBP is at least 2.8, but the topic ID was not found.
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

import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, float64, int8, int16, int32, string } from '../field.ts'

/**
 * Lists client quotas that match a filter (KIP-546).
 */
export const describeClientQuotas = api({
  key: 48,
  name: 'DescribeClientQuotas',
  versions: [0, 1],
  flexibleFrom: 1,
  request: {
    components: array({
      entityType: string(),
      /** How to match the entity {0 = exact name, 1 = default name, 2 = any specified name}. */
      matchType: int8(),
      /** The string to match against, or null if unused for the match type. */
      match: string({ nullable: '0+' }),
    }),
    /** Whether the match is strict, i.e. should exclude entities with unspecified entity types. */
    strict: boolean(),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    entries: array(
      {
        entity: array({
          entityType: string(),
          entityName: string({ nullable: '0+' }),
        }),
        values: array({
          key: string(),
          value: float64(),
        }),
      },
      { nullable: '0+' },
    ),
  },
})

export type DescribeClientQuotasRequest = RequestOf<typeof describeClientQuotas>
export type DescribeClientQuotasResponse = ResponseOf<typeof describeClientQuotas>

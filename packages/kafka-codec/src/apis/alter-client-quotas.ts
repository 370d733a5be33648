import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, float64, int16, int32, string } from '../field.ts'

/**
 * Sets or removes client quotas (KIP-546).
 */
export const alterClientQuotas = api({
  key: 49,
  name: 'AlterClientQuotas',
  versions: [0, 1],
  flexibleFrom: 1,
  request: {
    entries: array({
      entity: array({
        entityType: string(),
        entityName: string({ nullable: '0+' }),
      }),
      /** An individual quota configuration entry to alter. */
      ops: array({
        key: string(),
        /** The value to set, otherwise ignored if the value is to be removed. */
        value: float64(),
        /** Whether the quota configuration value should be removed, otherwise set. */
        remove: boolean(),
      }),
    }),
    /** Whether the alteration should be validated, but not performed. */
    validateOnly: boolean(),
  },
  response: {
    throttleTimeMs: int32(),
    entries: array({
      errorCode: int16(),
      errorMessage: string({ nullable: '0+' }),
      entity: array({
        entityType: string(),
        entityName: string({ nullable: '0+' }),
      }),
    }),
  },
})

export type AlterClientQuotasRequest = RequestOf<typeof alterClientQuotas>
export type AlterClientQuotasResponse = ResponseOf<typeof alterClientQuotas>

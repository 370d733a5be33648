import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, string } from '../field.ts'

/**
 * Raises or lowers finalized cluster features (KIP-584).
 *
 * - v1 adds ValidateOnly and the type of upgrade (KIP-778).
 * - v2 has no results for single features any more.
 */
export const updateFeatures = api({
  key: 57,
  name: 'UpdateFeatures',
  versions: [0, 2],
  flexibleFrom: 0,
  request: {
    /** How long to wait in milliseconds before timing out the request. */
    timeoutMs: int32({ default: 60_000 }),
    featureUpdates: array({
      feature: string(),
      /**
       * The new maximum version level for the finalized feature. A value >= 1 is valid. A value < 1, is special, and can
       * be used to request the deletion of the finalized feature.
       */
      maxVersionLevel: int16(),
      /**
       * DEPRECATED in version 1 (see DowngradeType). When set to true, the finalized feature version level is allowed to
       * be downgraded/deleted. The downgrade request will fail if the new maximum version level is a value that's not
       * lower than the existing maximum finalized version level.
       */
      allowDowngrade: boolean({ versions: '0' }),
      /**
       * Determine which type of upgrade will be performed: 1 will perform an upgrade only (default), 2 is safe
       * downgrades only (lossless), 3 is unsafe downgrades (lossy).
       */
      upgradeType: int8({ versions: '1+', default: 1 }),
    }),
    /** True if we should validate the request, but not perform the upgrade or downgrade. */
    validateOnly: boolean({ versions: '1+', default: false }),
  },
  response: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    results: array(
      {
        feature: string(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
      },
      { versions: '0-1', ignorable: true },
    ),
  },
})

export type UpdateFeaturesRequest = RequestOf<typeof updateFeatures>
export type UpdateFeaturesResponse = ResponseOf<typeof updateFeatures>

import { api, type RequestOf, type ResponseOf } from '../api.ts'
import { array, boolean, int8, int16, int32, string } from '../field.ts'

/**
 * Reads the configuration of topics, brokers and other resources.
 *
 * - v1 adds synonyms, and says where a value comes from instead of whether it is the default.
 */
export const describeConfigs = api({
  key: 32,
  name: 'DescribeConfigs',
  versions: [0, 4],
  flexibleFrom: 4,
  request: {
    /** The resources whose configurations we want to describe. */
    resources: array({
      resourceType: int8(),
      resourceName: string(),
      configurationKeys: array(string(), { nullable: '0+' }),
    }),
    /** True if we should include all synonyms. */
    includeSynonyms: boolean({ versions: '1+', default: false }),
    /** True if we should include configuration documentation. */
    includeDocumentation: boolean({ versions: '3+', default: false }),
  },
  response: {
    throttleTimeMs: int32(),
    results: array({
      /** The error code, or 0 if we were able to successfully describe the configurations. */
      errorCode: int16(),
      errorMessage: string({ nullable: '0+' }),
      resourceType: int8(),
      resourceName: string(),
      configs: array({
        name: string(),
        value: string({ nullable: '0+' }),
        readOnly: boolean(),
        /**
         * True if the configuration is not set; from version 1 on ConfigSource says where the value comes from.
         */
        isDefault: boolean({ versions: '0' }),
        configSource: int8({ versions: '1+', default: -1, ignorable: true }),
        isSensitive: boolean(),
        synonyms: array(
          {
            name: string(),
            value: string({ nullable: '0+' }),
            source: int8(),
          },
          { versions: '1+', ignorable: true },
        ),
        /**
         * The configuration data type. Type can be one of the following values - BOOLEAN, STRING, INT, SHORT, LONG,
         * DOUBLE, LIST, CLASS, PASSWORD.
         */
        configType: int8({ versions: '3+', default: 0, ignorable: true }),
        documentation: string({ versions: '3+', nullable: '0+', ignorable: true }),
      }),
    }),
  },
})

export type DescribeConfigsRequest = RequestOf<typeof describeConfigs>
export type DescribeConfigsResponse = ResponseOf<typeof describeConfigs>

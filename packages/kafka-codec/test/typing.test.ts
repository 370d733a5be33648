import { expectTypeOf, test } from 'vitest'
import type {
  FetchResponse,
  fetch,
  HeartbeatRequest,
  heartbeat,
  MetadataRequest,
  ProduceRequest,
  produce,
  RequestInput,
  ResponseInput,
} from '../src/index.ts'

/** Checked by `tsc -b`, which reads tests too. */
test('decoding gives every field, with null only where a version allows it', () => {
  expectTypeOf<HeartbeatRequest['groupId']>().toEqualTypeOf<string>()
  expectTypeOf<HeartbeatRequest['groupInstanceId']>().toEqualTypeOf<string | null>()
  expectTypeOf<MetadataRequest['topics']>().toExtend<{ topicId: string; name: string | null }[] | null>()
  expectTypeOf<
    ProduceRequest['topicData'][number]['partitionData'][number]['records']
  >().toEqualTypeOf<Uint8Array | null>()
  expectTypeOf<FetchResponse['responses'][number]['partitions'][number]['highWatermark']>().toEqualTypeOf<bigint>()
  expectTypeOf<FetchResponse['nodeEndpoints']>().toExtend<unknown[]>()
})

test('encoding takes what decoding gives', () => {
  expectTypeOf<HeartbeatRequest>().toExtend<RequestInput<typeof heartbeat>>()
  expectTypeOf<FetchResponse>().toExtend<ResponseInput<typeof fetch>>()
})

test('encoding takes a message without its tagged fields and declared defaults, and no other', () => {
  expectTypeOf({ groupId: 'g', generationId: 1, memberId: 'm' }).toExtend<RequestInput<typeof heartbeat>>()
  expectTypeOf({ groupId: 'g', generationId: 1 }).not.toExtend<RequestInput<typeof heartbeat>>()
  expectTypeOf({ groupId: null, generationId: 1, memberId: 'm' }).not.toExtend<RequestInput<typeof heartbeat>>()
  expectTypeOf({ acks: 1, timeoutMs: 1, topicData: [] }).toExtend<RequestInput<typeof produce>>()
  expectTypeOf({ acks: 1, timeoutMs: 1n, topicData: [] }).not.toExtend<RequestInput<typeof produce>>()
})

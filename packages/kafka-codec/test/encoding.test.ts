import { describe, expect, test } from 'vitest'
import {
  CodecError,
  createTopics,
  encodeRequest,
  fetch,
  heartbeat,
  joinGroup,
  listOffsets,
  metadata,
  offsetCommit,
  type ProduceRequest,
  produce,
  type RequestInput,
} from '../src/index.ts'

const zeroUuid = '00000000-0000-0000-0000-000000000000'
const member = { groupId: 'g', generationId: 1, memberId: 'm' }

function thrownBy(encode: () => unknown): CodecError {
  try {
    encode()
  } catch (error) {
    if (error instanceof CodecError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('a field that the version does not have', () => {
  test('decodes to its default', () => {
    const bytes = heartbeat.request(0).encode(member)
    expect(heartbeat.request(0).decode(bytes)).toEqual({ ...member, groupInstanceId: null })
    const old = metadata
      .response(0)
      .encode({ brokers: [], topics: [], clusterId: null, controllerId: -1, throttleTimeMs: 0, errorCode: 0 })
    expect(metadata.response(0).decode(old)).toMatchObject({ clusterId: null, controllerId: -1, throttleTimeMs: 0 })
  })

  test('may be left out, null or at its default when encoding', () => {
    expect(heartbeat.request(2).encode({ ...member, groupInstanceId: null }).length).toBe(10)
  })

  test('makes encoding throw when it says something, naming the field', () => {
    const error = thrownBy(() => heartbeat.request(2).encode({ ...member, groupInstanceId: 'one' }))
    expect(error.message).toBe('Heartbeat request v2: groupInstanceId: version 2 cannot carry it')
    expect(error).toMatchObject({
      code: 'PICO_KAFKA_ENCODE_FAILED',
      api: 'Heartbeat request',
      version: 2,
      field: 'groupInstanceId',
      offset: undefined,
    })
  })

  test('makes encoding throw at any depth', () => {
    const partition = { partitionIndex: 4, committedOffset: 5n, committedMetadata: null, commitTimestamp: 6n }
    const value = { groupId: 'g', memberId: '', topics: [{ name: 't', topicId: zeroUuid, partitions: [partition] }] }
    const error = thrownBy(() => offsetCommit.request(2).encode(value))
    expect(error.field).toBe('topics[0].partitions[0].commitTimestamp')
  })

  test('is dropped in silence if it is ignorable', () => {
    const topic = { name: 't', topicId: '00112233-4455-6677-8899-aabbccddeeff', partitionData: [] }
    const value = { acks: 1, timeoutMs: 2, topicData: [topic] }
    expect(produce.request(3).decode(produce.request(3).encode(value)).topicData[0]?.topicId).toBe(zeroUuid)
    expect(produce.request(13).decode(produce.request(13).encode(value)).topicData[0]?.name).toBe('')
  })

  test('is compared as a whole if it is a struct', () => {
    const value = { maxWaitMs: 1, minBytes: 1, topics: [], forgottenTopicsData: [] }
    const unknown = { replicaId: -1, replicaEpoch: -1n }
    expect(fetch.request(4).encode({ ...value, replicaState: unknown }).length).toBeGreaterThan(0)
    expect(thrownBy(() => fetch.request(4).encode({ ...value, replicaState: { replicaId: 3 } })).field).toBe(
      'replicaState',
    )
  })
})

describe('a value that does not fit', () => {
  const encode = (wrong: object) => () => joinGroup.request(9).encode({ ...joinRequest, ...wrong } as JoinRequest)

  test.each([
    ['groupId', null, 'null in a field that is not nullable'],
    ['groupId', undefined, 'undefined is not a string'],
    ['groupId', 5, '5 is not a string'],
    ['groupId', 'x'.repeat(32_768), 'a string of 32768 bytes; 32767 are allowed'],
    ['sessionTimeoutMs', 2 ** 31, '2147483648 does not fit int32'],
    ['sessionTimeoutMs', '5', '5 does not fit int32'],
    ['sessionTimeoutMs', undefined, 'undefined does not fit int32'],
    ['protocols', undefined, 'undefined is not an array'],
    ['protocols', null, 'null in a field that is not nullable'],
    ['protocols', [null], 'null is not an object'],
  ])('%s: %j', (field, value, reason) => {
    const error = thrownBy(encode({ [field]: value }))
    expect(error.code).toBe('PICO_KAFKA_ENCODE_FAILED')
    expect(error.message).toContain(reason)
    expect(error.field.startsWith(field)).toBe(true)
  })

  test('is named by its path', () => {
    const error = thrownBy(encode({ protocols: [{ name: 'range', metadata: 'text' }] }))
    expect(error.message).toBe('JoinGroup request v9: protocols[0].metadata: text is not a Uint8Array')
  })

  test('is refused as int64 beyond 64 bits, and as boolean or UUID if it is none', () => {
    const partition = { partitionIndex: 0, timestamp: 2n ** 63n }
    const list = { replicaId: -1, isolationLevel: 0, timeoutMs: 0, topics: [{ name: 't', partitions: [partition] }] }
    expect(thrownBy(() => listOffsets.request(1).encode(list)).field).toBe('topics[0].partitions[0].timestamp')
    const create = { topics: [], validateOnly: 1 as unknown as boolean }
    expect(thrownBy(() => createTopics.request(2).encode(create)).message).toContain('1 is not a boolean')
    const topicData = [{ name: '', topicId: 'nonsense', partitionData: [] }]
    expect(thrownBy(() => produce.request(13).encode({ acks: 1, timeoutMs: 1, topicData })).field).toBe(
      'topicData[0].topicId',
    )
  })
})

type JoinRequest = RequestInput<typeof joinGroup>

const joinRequest: JoinRequest = {
  groupId: 'g',
  sessionTimeoutMs: 10_000,
  memberId: '',
  protocolType: 'consumer',
  protocols: [],
}

describe('tagged fields', () => {
  const value = { maxWaitMs: 1, minBytes: 1, topics: [], forgottenTopicsData: [] }

  test('are left off the wire at their default', () => {
    const bare = fetch.request(12).encode(value)
    expect(fetch.request(12).encode({ ...value, clusterId: null })).toEqual(bare)
    expect(fetch.request(12).encode({ ...value, clusterId: 'c' }).length).toBe(bare.length + 4)
  })

  test('that are not known are kept and written back in ascending order among the known', () => {
    const unknownTags = [
      { tag: 7, bytes: Uint8Array.of(1) },
      { tag: 2, bytes: new Uint8Array(0) },
    ]
    const bytes = fetch.request(15).encode({ ...value, replicaState: { replicaId: 3 }, unknownTags })
    const decoded = fetch.request(15).decode(bytes)
    expect(decoded.replicaState.replicaId).toBe(3)
    expect(decoded.unknownTags?.map(({ tag }) => tag)).toEqual([2, 7])
    expect(Buffer.from(fetch.request(15).encode(decoded))).toEqual(bytes)
  })

  test('cannot be carried by a version that is not flexible', () => {
    const unknownTags = [{ tag: 7, bytes: Uint8Array.of(1) }]
    expect(thrownBy(() => fetch.request(11).encode({ ...value, unknownTags })).field).toBe('unknownTags')
    expect(fetch.request(11).encode({ ...value, unknownTags: [] }).length).toBeGreaterThan(0)
  })

  test('cannot use a known tag for something unknown', () => {
    const unknownTags = [{ tag: 1, bytes: Uint8Array.of(1) }]
    const replicaState = { replicaId: 3 }
    expect(thrownBy(() => fetch.request(15).encode({ ...value, replicaState, unknownTags })).message).toContain(
      'tag 1 twice',
    )
  })
})

describe('byte fields', () => {
  const request = (records: Uint8Array) => ({
    acks: 1,
    timeoutMs: 1,
    topicData: [{ name: 't', topicId: zeroUuid, partitionData: [{ index: 0, records }] }],
  })

  test('decode to views of the input', () => {
    const input = Buffer.from(produce.request(9).encode(request(Buffer.from('abcd'))))
    const decoded: ProduceRequest = produce.request(9).decode(input)
    input[input.indexOf('abcd')] = 'X'.charCodeAt(0)
    expect(Buffer.from(decoded.topicData[0]!.partitionData[0]!.records!).toString()).toBe('Xbcd')
  })

  test('may be null where the version says so', () => {
    const value = {
      acks: 1,
      timeoutMs: 1,
      topicData: [{ name: 't', topicId: zeroUuid, partitionData: [{ index: 0, records: null }] }],
    }
    expect(
      produce.request(3).decode(produce.request(3).encode(value)).topicData[0]?.partitionData[0]?.records,
    ).toBeNull()
  })
})

test('records in pieces are encoded as if they were one, large pieces by reference', () => {
  const pieces = [Buffer.alloc(5000, 'a'), Buffer.alloc(0), Buffer.alloc(10, 'b'), Buffer.alloc(9000, 'c')]
  const body = (given: Uint8Array | readonly Uint8Array[]) => ({
    acks: 1,
    timeoutMs: 1,
    topicData: [{ name: 't', topicId: zeroUuid, partitionData: [{ index: 0, records: given }] }],
  })
  for (const version of [3, 9]) {
    const header = { correlationId: 1, clientId: null }
    const inPieces = encodeRequest(produce, version, header, body(pieces))
    const asOne = encodeRequest(produce, version, header, body(Buffer.concat(pieces)))
    expect(Buffer.concat(inPieces)).toEqual(Buffer.concat(asOne))
    expect(inPieces).toContain(pieces[0])
    expect(inPieces).toContain(pieces[3])
    const wrong = ['a'] as unknown as Uint8Array[]
    expect(thrownBy(() => encodeRequest(produce, version, header, body(wrong))).field).toBe(
      'topicData[0].partitionData[0].records',
    )
  }
})

describe('versions', () => {
  test('are compiled once', () => {
    expect(heartbeat.request(3)).toBe(heartbeat.request(3))
    expect(heartbeat.request(3)).not.toBe(heartbeat.request(2))
  })

  test.each([-1, 5, 1.5, Number.NaN])('that do not exist are a CodecError: %d', (version) => {
    const error = thrownBy(() => heartbeat.request(version))
    expect(error).toMatchObject({ code: 'PICO_KAFKA_UNSUPPORTED_VERSION', version })
    expect(error.message).toContain('versions 0 to 4 exist')
  })
})

test('a default is a fresh value in every message', () => {
  const decode = () =>
    fetch.response(1).decode(fetch.response(1).encode({ throttleTimeMs: 0, errorCode: 0, responses: [] }))
  decode().nodeEndpoints.push({ nodeId: 1, host: 'h', port: 1, rack: null })
  expect(decode().nodeEndpoints).toEqual([])
})

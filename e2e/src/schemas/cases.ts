import { framed, type KindUnderTest, truncated } from './kinds.ts'

export interface CaseRecord {
  readonly key: Buffer | null
  readonly value: Buffer | null
  /** As the schema wants it. */
  readonly isGood: boolean
}

/** Records that are written together: a batch over Kafka, a request over HTTP. All are taken, or none. */
export interface WriteCase {
  readonly name: string
  readonly records: readonly CaseRecord[]
}

export interface TopicUnderTest {
  readonly kind: KindUnderTest
  readonly encoding: 'plain' | 'confluent'
  readonly isCompacted: boolean
}

/** What a topic of each kind is held to, in every way to be held. */
export function topicsUnderTest(kind: KindUnderTest): TopicUnderTest[] {
  return [
    { kind, encoding: 'plain', isCompacted: false },
    { kind, encoding: 'confluent', isCompacted: false },
    { kind, encoding: 'plain', isCompacted: true },
  ]
}

/** One after the other: after each that is refused there is one that has to be taken. */
export function casesOf({ kind, encoding, isCompacted }: TopicUnderTest, schemaId: number): WriteCase[] {
  const encoded = (value: Buffer, id = schemaId) => (encoding === 'plain' ? value : framed(kind, id, value))
  const valid = (id: number) => record(encoded(kind.valid(id)), true)
  const cases: WriteCase[] = [
    { name: 'valid', records: [valid(1), valid(2)] },
    { name: 'invalid', records: [valid(3), record(encoded(kind.invalid), false), valid(4)] },
    { name: 'truncated', records: [record(truncated(encoded(kind.valid(5))), false)] },
    { name: 'valid', records: [valid(6)] },
    { name: 'empty', records: [record(encoded(Buffer.alloc(0)), kind.kind === 'protobuf')] },
    { name: 'tombstone', records: [record(null, isCompacted)] },
    { name: 'valid', records: [valid(300), valid(301), valid(302)] },
  ]
  if (encoding === 'confluent') {
    cases.push(
      { name: 'wrong schema id', records: [valid(7), record(encoded(kind.valid(8), schemaId + 1), false)] },
      { name: 'no schema id', records: [record(kind.valid(9), false)] },
      { name: 'valid', records: [valid(10)] },
    )
  }
  return cases
}

export function isTaken({ records }: WriteCase): boolean {
  return records.every(({ isGood }) => isGood)
}

function record(value: Buffer | null, isGood: boolean): CaseRecord {
  return { key: Buffer.from('key'), value, isGood }
}

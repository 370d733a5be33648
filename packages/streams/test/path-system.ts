import type {
  AppendRecordsOutcome,
  CreateStreamOutcome,
  HttpProducerStamp,
  NewPathStream,
  PathStream,
  RecordsRefusal,
  StreamDescription,
  Streams,
} from '../src/index.ts'

export const values = (...texts: string[]) => texts.map((value) => ({ value }))
export const newStream = (name: string, more: Partial<NewPathStream> = {}): NewPathStream => ({
  name,
  contentType: 'text/plain',
  config: {},
  expiry: { kind: 'never' },
  closed: false,
  records: [],
  matches: () => true,
  ...more,
})
export const created = (outcome: CreateStreamOutcome): StreamDescription => {
  if (outcome.kind !== 'created') throw new Error(JSON.stringify(outcome))
  return outcome.stream
}
export const opened = async (streams: Streams, name: string): Promise<PathStream> => {
  const stream = await streams.paths.open(name)
  if (typeof stream === 'string' || 'kind' in stream) throw new Error(JSON.stringify(stream))
  return stream
}
export const appended = (outcome: AppendRecordsOutcome) => {
  if (outcome.kind !== 'appended') throw new Error(JSON.stringify(outcome))
  return outcome
}
export const requests = (id: string, epoch: number, sequence: number): HttpProducerStamp => {
  return { id, epoch, sequence, counts: 'requests' }
}

export const why = (outcome: AppendRecordsOutcome | Awaited<ReturnType<PathStream['closeNow']>>): RecordsRefusal => {
  if (outcome.kind !== 'refused') throw new Error(JSON.stringify(outcome))
  return outcome.why
}
/** Appends and waits until it is durable. Returns the base offset. */
export const put = async (stream: PathStream, ...texts: string[]): Promise<number> => {
  const { baseOffset, committed } = appended(stream.appendRecords(values(...texts)))
  await committed
  return baseOffset
}

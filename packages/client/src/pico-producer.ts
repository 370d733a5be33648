import { type AppendRecord, encodeAppendBatch, mediaTypes, pathOfStreamName, picoHeaders } from '@pico/http-contract'
import { neededNumber, numberHeader } from './answer-headers.ts'
import type { BatchSender, PreparedRecord } from './batch-sender.ts'
import { Producer } from './producer.ts'
import type { ProducerSettings } from './producer-settings.ts'
import { appendRecordOf, type RecordInput, recordSizeBytes } from './record.ts'
import type { Transport } from './transport.ts'

interface PreparedAppend extends PreparedRecord {
  readonly record: AppendRecord
}

/** Its positions are sequence numbers. */
export type PicoProducer = Producer<RecordInput, PreparedAppend, number>

/** The Pico protocol numbers a producer's records, and tells a repetition where the first one went. */
export function picoProducer(transport: Transport, stream: string, settings: ProducerSettings): PicoProducer {
  const lane = transport.nextLane()
  const path = pathOfStreamName(stream)
  const sender: BatchSender<RecordInput, PreparedAppend, number> = {
    prepare(input) {
      const record = appendRecordOf(input)
      return { record, sizeBytes: recordSizeBytes(record) }
    },
    body: (records) => encodeAppendBatch(records.map(({ record }) => record)),
    numbersOf: (recordCount) => recordCount,
    async send({ body, recordCount, stamp, signal }) {
      const headers = {
        'Content-Type': mediaTypes.batch,
        [picoHeaders.producerId]: stamp.id,
        [picoHeaders.producerEpoch]: String(stamp.epoch),
        [picoHeaders.producerSeq]: String(stamp.seq),
      }
      const answer = await transport.once({
        method: 'POST',
        path,
        stream,
        headers,
        body,
        sharing: { kind: 'lane', lane },
        repeatable: true,
        signal,
      })
      // Of a repetition earlier servers tell only where the first one ended. Any remembers a producer's last five requests, and no more than
      // five are ever under way.
      const nextSeq = neededNumber(answer.headers, 'pico-next-seq')
      const startSeq = numberHeader(answer.headers, 'pico-start-seq') ?? nextSeq - recordCount
      await answer.body.dump()
      return { positionOf: (index) => startSeq + index }
    },
  }
  return new Producer(sender, { retry: transport.retry, ...settings })
}

import { pathOfStreamName } from '@pico/http-contract'
import { neededText } from './answer-headers.ts'
import type { BatchSender, PreparedRecord } from './batch-sender.ts'
import { PicoError } from './errors.ts'
import { Producer } from './producer.ts'
import type { ProducerSettings } from './producer-settings.ts'
import type { Transport } from './transport.ts'

interface PreparedPiece extends PreparedRecord {
  readonly bytes: Uint8Array
}

/**
 * Takes pieces of the stream; of a JSON stream, messages as JSON text. Its positions are the offsets where the request that a piece
 * travelled in ends.
 */
export type DurableProducer = Producer<string | Uint8Array, PreparedPiece, string>

/** Durable Streams number a producer's requests, and do not tell a repetition where the first one went. */
export function durableProducer(
  transport: Transport,
  stream: { readonly name: string; readonly contentType: string; readonly isJson: boolean },
  settings: ProducerSettings,
): DurableProducer {
  const lane = transport.nextLane()
  const path = pathOfStreamName(stream.name)
  const sender: BatchSender<string | Uint8Array, PreparedPiece, string> = {
    prepare(piece) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : new Uint8Array(piece)
      if (bytes.length === 0) throw new PicoError('bad_request', 'there is nothing to append')
      return { bytes, sizeBytes: bytes.length + 1 }
    },
    body: (pieces) => (stream.isJson ? jsonArray(pieces) : Buffer.concat(pieces.map(({ bytes }) => bytes))),
    numbersOf: () => 1,
    async send({ body, stamp, signal }) {
      const headers = {
        'Content-Type': stream.contentType,
        'Producer-Id': stamp.id,
        'Producer-Epoch': String(stamp.epoch),
        'Producer-Seq': String(stamp.seq),
      }
      const answer = await transport.once({
        method: 'POST',
        path,
        stream: stream.name,
        headers,
        body,
        sharing: { kind: 'lane', lane },
        repeatable: true,
        signal,
      })
      await answer.body.dump()
      if (answer.status === 204) return { positionOf: null } // taken before
      const next = neededText(answer.headers, 'stream-next-offset')
      return { positionOf: () => next }
    },
  }
  return new Producer(sender, { retry: transport.retry, ...settings })
}

function jsonArray(messages: readonly PreparedPiece[]): Uint8Array {
  const parts: Uint8Array[] = []
  for (const { bytes } of messages) parts.push(parts.length === 0 ? opening : comma, bytes)
  return Buffer.concat([...parts, closing])
}

const [opening, comma, closing] = [Buffer.from('['), Buffer.from(','), Buffer.from(']')]

import type { HttpProducerStamp } from '@pico/streams'
import { Problem } from './problem.ts'
import { parseWholeNumber } from './whole-number.ts'

export interface ProducerHeaders {
  readonly id: string | undefined
  readonly epoch: string | undefined
  readonly seq: string | undefined
}

/** `Producer-Id`, `-Epoch` and `-Seq`: all three or none. A sequence number counts requests, however many messages they carry. */
export function parseProducer({ id, epoch, seq }: ProducerHeaders): HttpProducerStamp | null | Problem {
  if (id === undefined && epoch === undefined && seq === undefined) return null
  if (id === undefined || epoch === undefined || seq === undefined) {
    return new Problem('Producer-Id, Producer-Epoch and Producer-Seq go together')
  }
  if (id === '') return new Problem('Producer-Id is empty')
  const epochNumber = parseWholeNumber(epoch)
  if (epochNumber === null) return new Problem('Producer-Epoch has to be a whole number up to 2^53 - 1')
  const sequence = parseWholeNumber(seq)
  if (sequence === null) return new Problem('Producer-Seq has to be a whole number up to 2^53 - 1')
  return { id, epoch: epochNumber, sequence, counts: 'requests' }
}

import { createHash } from 'node:crypto'
import type { HttpProducerStamp } from './path-streams.ts'

/** An append that was taken, to be recognised when it comes again. */
export interface RememberedAppend {
  readonly firstSequence: number
  readonly lastSequence: number
  readonly baseOffset: number
  readonly lastOffset: number
}

/** What is known of one HTTP producer in one stream. Immutable. */
export interface HttpProducerState {
  readonly epoch: number
  /** The last five at most, oldest first; never empty. */
  readonly appends: readonly RememberedAppend[]
  /** From then on nothing is known of the producer. */
  readonly expiresAtMs: number
}

export type HttpProducerVerdict =
  /** `startsOver`: nothing was known of the producer. */
  | { readonly kind: 'new'; readonly startsOver: boolean }
  | { readonly kind: 'duplicate'; readonly of: RememberedAppend | null; readonly lastSequence: number }
  | { readonly kind: 'old-epoch'; readonly currentEpoch: number }
  | { readonly kind: 'epoch-not-from-zero' }
  | { readonly kind: 'sequence-gap'; readonly expectedSequence: number }

export const rememberedAppendsMax = 5
/** Longer ids are known by their digest: the table of a stream is bounded. */
const idLengthMax = 128

/** Under what a producer is known: those of the two protocols count differently, so that they are different ones though called alike. */
export function producerKey({ id, counts }: Pick<HttpProducerStamp, 'id' | 'counts'>): string {
  const name = id.length <= idLengthMax ? id : createHash('sha256').update(id).digest('base64')
  return counts === 'records' ? `r:${name}` : `q:${name}`
}

export function lastSequenceOf(
  { counts, sequence }: Pick<HttpProducerStamp, 'counts' | 'sequence'>,
  records: number,
): number {
  return counts === 'records' ? sequence + records - 1 : sequence
}

/**
 * The rules of durable-streams.md 1.6 (Durable Streams' PROTOCOL.md, "Idempotent Producers"), which are Pico's too: a known producer goes
 * on where it was, an unknown one and a new epoch begin at 0. What was taken is a duplicate, whatever is in it. Where records are
 * counted, an append may lie in part behind the last sequence taken: nothing of it is written then, and the gap says where to go on.
 */
export function judgeStamp(
  state: HttpProducerState | undefined,
  stamp: HttpProducerStamp,
  records: number,
): HttpProducerVerdict {
  const first = stamp.sequence
  const last = lastSequenceOf(stamp, records)
  if (state === undefined) return first === 0 ? fits(last, true, 0) : gap(0)
  if (stamp.epoch < state.epoch) return { kind: 'old-epoch', currentEpoch: state.epoch }
  if (stamp.epoch > state.epoch) return first === 0 ? fits(last, false, 0) : { kind: 'epoch-not-from-zero' }
  const { lastSequence } = lastAppend(state)
  if (last <= lastSequence) return { kind: 'duplicate', of: remembered(state, first, last), lastSequence }
  return first === lastSequence + 1 ? fits(last, false, first) : gap(lastSequence + 1)
}

/** The state after an append that was judged new. A new epoch forgets the appends of the old one. */
export function afterAppend(
  state: HttpProducerState | undefined,
  epoch: number,
  append: RememberedAppend,
  expiresAtMs: number,
): HttpProducerState {
  const goesOn = state !== undefined && state.epoch === epoch
  const appends = goesOn ? [...state.appends.slice(1 - rememberedAppendsMax), append] : [append]
  return { epoch, appends, expiresAtMs }
}

export function lastAppend(state: HttpProducerState): RememberedAppend {
  return state.appends[state.appends.length - 1]! // never empty, see HttpProducerState
}

/** Where the sequences lie, if they are those of an append that is remembered, or some of it. */
function remembered({ appends }: HttpProducerState, first: number, last: number): RememberedAppend | null {
  const append = appends.find((known) => known.firstSequence <= first && last <= known.lastSequence)
  if (append === undefined) return null
  if (append.firstSequence === first && append.lastSequence === last) return append
  const baseOffset = append.baseOffset + first - append.firstSequence
  return { firstSequence: first, lastSequence: last, baseOffset, lastOffset: baseOffset + last - first }
}

/** Sequences end at 2^53 - 1. */
function fits(last: number, startsOver: boolean, expectedSequence: number): HttpProducerVerdict {
  return Number.isSafeInteger(last) ? { kind: 'new', startsOver } : gap(expectedSequence)
}

function gap(expectedSequence: number): HttpProducerVerdict {
  return { kind: 'sequence-gap', expectedSequence }
}

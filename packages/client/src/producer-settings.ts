import { randomUUID } from 'node:crypto'
import { PicoError } from './errors.ts'
import type { RetrySettings } from './retry-schedule.ts'

export interface ProducerSettings {
  /** Who it is to the server. Absent: a random one. Give the same id with a higher `epoch` to take over from an older process. */
  readonly id?: string
  /** Default 0. A higher one fences all lower ones of that id; numbering begins anew. */
  readonly epoch?: number
  /** How long a record may wait for company. Default 0: what comes while requests are under way goes together. */
  readonly lingerMs?: number
  /** Default 1 MiB. A larger record goes alone. */
  readonly batchBytesMax?: number
  /** Default 10,000. */
  readonly batchRecordsMax?: number
  /** Requests under way: 1 to 5, default 5. The server remembers the offsets of a producer's last five. */
  readonly inFlightMax?: number
  /** Past it, `append` waits. Default 16 MiB, records in flight included. */
  readonly bufferedBytesMax?: number
  /** A record that is not acknowledged by then fails, and with it the producer. Default 120,000. */
  readonly deliveryTimeoutMs?: number
  readonly retry?: RetrySettings
  /** Ends the producer, and fails what is not acknowledged. */
  readonly signal?: AbortSignal
}

/** With their defaults. */
export type CompleteProducerSettings = Required<Omit<ProducerSettings, 'signal'>>

/** @throws PicoError 'bad_request' */
export function completeSettings(given: ProducerSettings): CompleteProducerSettings {
  const { signal: _, ...settings } = given
  const complete = {
    id: randomUUID() as string,
    epoch: 0,
    lingerMs: 0,
    batchBytesMax: 1024 * 1024,
    batchRecordsMax: 10_000,
    inFlightMax: 5,
    bufferedBytesMax: 16 * 1024 * 1024,
    deliveryTimeoutMs: 120_000,
    retry: {},
    ...settings,
  }
  const { inFlightMax, batchRecordsMax } = complete
  if (!(inFlightMax >= 1 && inFlightMax <= 5))
    throw new PicoError('bad_request', `inFlightMax ${inFlightMax} is not 1 to 5`)
  if (!(batchRecordsMax >= 1)) throw new PicoError('bad_request', `batchRecordsMax ${batchRecordsMax} is not positive`)
  return complete
}

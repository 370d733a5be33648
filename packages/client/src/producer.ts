import { abortable } from './abortable.ts'
import type { BatchSender, PreparedRecord, Receipt, Sent } from './batch-sender.ts'
import { PicoError } from './errors.ts'
import { Batch, BatchReceipt } from './producer-batch.ts'
import { type CompleteProducerSettings, completeSettings, type ProducerSettings } from './producer-settings.ts'
import { pause, RetrySchedule } from './retry-schedule.ts'

/** Memory that a record takes beside its bytes, so that a buffer of empty ones is bounded too. */
const recordOverheadBytes = 64

/** Refused for what it holds: nothing was written, and the next ones may go. */
const refusals: ReadonlySet<string> = new Set(['bad_request', 'too_large', 'invalid_record'])

/**
 * Appends records in order, each once: batched, several requests at a time, repeated until they are acknowledged. The server recognises
 * a repetition by id, epoch and sequence number.
 *
 * When a request fails, no new one goes out until all have an answer; then those without success go again, in order.
 */
export class Producer<Input, Prepared extends PreparedRecord, Position> {
  readonly id: string
  readonly epoch: number
  readonly #settings: CompleteProducerSettings
  readonly #sender: BatchSender<Input, Prepared, Position>
  readonly #schedule: RetrySchedule
  readonly #abort = new AbortController()
  readonly #unlisten: () => void
  /** Filling; not yet numbered. */
  #open: Batch<Prepared, Position> | null = null
  /** Full, in order; not yet numbered. */
  readonly #sealed: Batch<Prepared, Position>[] = []
  /** Numbered and not yet acknowledged, in order. */
  #window: Batch<Prepared, Position>[] = []
  #nextSeq = 0
  /** Requests made so far, repetitions not counted. */
  #sent = 0
  #bufferedBytes = 0
  readonly #waiters: Waiter<Prepared, Position>[] = []
  #lingering: NodeJS.Timeout | null = null
  #soon: NodeJS.Immediate | null = null
  #recovering = false
  #flushing = 0
  #failure: Error | null = null
  #closed = false
  /** The first since it was last told. */
  #untold: unknown = null

  constructor(sender: BatchSender<Input, Prepared, Position>, settings: ProducerSettings = {}) {
    this.#settings = completeSettings(settings)
    this.id = this.#settings.id
    this.epoch = this.#settings.epoch
    this.#sender = sender
    this.#schedule = new RetrySchedule({ ...this.#settings.retry, giveUpAfterMs: Number.POSITIVE_INFINITY }) // deliveryTimeoutMs decides
    const { signal } = settings
    const aborted = () =>
      this.#fail(signal?.reason instanceof Error ? signal.reason : new Error(String(signal?.reason)))
    signal?.addEventListener('abort', aborted, { once: true })
    this.#unlisten = () => signal?.removeEventListener('abort', aborted)
    if (signal?.aborted) aborted()
  }

  /**
   * Takes a record, in the order of the calls. Resolves when there is room for it: await it, and a fast source waits for a slow server.
   * @throws what ended the producer
   */
  async append(input: Input, options: { readonly signal?: AbortSignal } = {}): Promise<Receipt<Position>> {
    this.#throwIfEnded()
    options.signal?.throwIfAborted()
    const record = this.#sender.prepare(input)
    if (this.#waiters.length === 0 && this.#hasRoom(record)) return this.#add(record)
    return this.#wait(record, options.signal)
  }

  /** Resolves when all that was appended is durable. @throws the first failure since it was last told */
  async flush(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    this.#flushing++
    try {
      this.#pump()
      await abortable(Promise.all(this.#unsettled()), options.signal)
    } finally {
      this.#flushing--
    }
    const untold = this.#untold ?? this.#failure
    this.#untold = null
    if (untold !== null) throw untold
  }

  /** Flushes, and takes no more. */
  async close(options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    this.#closed = true
    try {
      await this.flush(options)
    } finally {
      this.#fail(new PicoError('client_closed', 'the producer is closed'))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#failure === null) await this.close()
  }

  /** One promise for each batch, and each record that waits for room; none rejects. */
  #unsettled(): Promise<void>[] {
    const batches = [...this.#window, ...this.#sealed, ...(this.#open === null ? [] : [this.#open])]
    return [...batches, ...this.#waiters].map(({ settled }) => settled)
  }

  #throwIfEnded(): void {
    if (this.#failure !== null) throw this.#failure
    if (this.#closed) throw new PicoError('client_closed', 'the producer is closed')
  }

  #hasRoom(record: Prepared): boolean {
    const { bufferedBytesMax } = this.#settings
    return this.#bufferedBytes === 0 || this.#bufferedBytes + record.sizeBytes + recordOverheadBytes <= bufferedBytesMax
  }

  #wait(record: Prepared, signal: AbortSignal | undefined): Promise<Receipt<Position>> {
    const { promise, resolve, reject } = Promise.withResolvers<Receipt<Position>>()
    const waiter: Waiter<Prepared, Position> = { record, resolve, reject, settled: settledOf(promise) }
    this.#waiters.push(waiter)
    if (signal === undefined) return promise
    const aborted = () => {
      const index = this.#waiters.indexOf(waiter)
      if (index === -1) return
      this.#waiters.splice(index, 1)
      reject(signal.reason)
      this.#admit()
    }
    signal.addEventListener('abort', aborted, { once: true })
    return promise.finally(() => signal.removeEventListener('abort', aborted))
  }

  #admit(): void {
    for (;;) {
      const first = this.#waiters[0]
      if (first === undefined || !this.#hasRoom(first.record)) return
      this.#waiters.shift()
      first.resolve(this.#add(first.record))
    }
  }

  #add(record: Prepared): Receipt<Position> {
    const { batchBytesMax, batchRecordsMax } = this.#settings
    const { sizeBytes } = record
    let batch = this.#open
    if (batch !== null && batch.sizeBytes + sizeBytes > batchBytesMax) {
      this.#seal(batch)
      batch = null
    }
    batch ??= this.#openBatch()
    const index = batch.add(record)
    this.#bufferedBytes += sizeBytes + recordOverheadBytes
    if (batch.count >= batchRecordsMax || batch.sizeBytes >= batchBytesMax) this.#seal(batch)
    this.#pumpSoon()
    return new BatchReceipt(batch, index)
  }

  #openBatch(): Batch<Prepared, Position> {
    this.#open = new Batch((error) => {
      this.#untold ??= error
    })
    return this.#open
  }

  #seal(batch: Batch<Prepared, Position>): void {
    this.#sealed.push(batch)
    this.#open = null
  }

  /** Never within `append`: what is appended in one go travels together. */
  #pumpSoon(): void {
    const { lingerMs } = this.#settings
    if (lingerMs === 0 || this.#sealed.length > 0) {
      this.#soon ??= setImmediate(() => {
        this.#soon = null
        this.#pump()
      })
    }
    if (lingerMs === 0 || this.#open === null || this.#lingering !== null) return
    this.#lingering = setTimeout(() => {
      this.#lingering = null
      if (this.#open !== null) this.#open.due = true
      this.#pump()
    }, lingerMs)
  }

  /** Sends what is due, as far as requests may be under way. */
  #pump(): void {
    if (this.#recovering || this.#failure !== null) return
    const { inFlightMax, lingerMs } = this.#settings
    // Counted from the oldest without an answer, later ones that have theirs included: else the server would forget where it went.
    while (this.#sent - (this.#window[0]?.ordinal ?? this.#sent) < inFlightMax) {
      const open = this.#open
      if (this.#sealed.length === 0 && open !== null && (open.due || lingerMs === 0 || this.#flushing > 0))
        this.#seal(open)
      const batch = this.#sealed.shift()
      if (batch === undefined) return
      batch.number(this.#nextSeq, this.#sender)
      batch.ordinal = this.#sent++
      this.#nextSeq += this.#sender.numbersOf(batch.count)
      this.#window.push(batch)
      void this.#send(batch)
    }
  }

  async #send(batch: Batch<Prepared, Position>): Promise<void> {
    batch.state = 'in-flight'
    batch.followed = this.#window[0] !== batch
    const { body, count: recordCount } = batch
    const stamp = { id: this.id, epoch: this.epoch, seq: batch.seq }
    try {
      const sent = await this.#sender.send({ body, recordCount, stamp, signal: this.#abort.signal })
      this.#acknowledge(batch, sent)
    } catch (error) {
      if (this.#failure !== null) return
      this.#judge(batch, error)
    }
    this.#proceed()
  }

  #acknowledge(batch: Batch<Prepared, Position>, sent: Sent<Position>): void {
    this.#schedule.succeeded()
    this.#window.splice(this.#window.indexOf(batch), 1)
    this.#release(batch)
    batch.resolve(sent)
  }

  #release(batch: Batch<Prepared, Position>): void {
    this.#bufferedBytes -= batch.sizeBytes + batch.count * recordOverheadBytes
    this.#admit()
  }

  #judge(batch: Batch<Prepared, Position>, error: unknown): void {
    if (!(error instanceof PicoError)) {
      this.#fail(error instanceof Error ? error : new Error(String(error)))
      return
    }
    if (error.code === 'sequence_gap' && batch.followed) {
      batch.state = 'again' // it overtook an earlier one, which is still to succeed
    } else if (error.retriable) {
      if (error.written !== 'no') batch.maybeWritten = true
      batch.state = 'again'
      batch.lastError = error
      if (batch.ageMs() > this.#settings.deliveryTimeoutMs) this.#fail(lateError(error))
    } else if (refusals.has(error.code) && !batch.maybeWritten) {
      batch.state = 'refused'
      batch.lastError = error
    } else {
      this.#fail(error)
    }
    this.#recovering = true
  }

  #proceed(): void {
    if (this.#failure !== null) return
    if (!this.#recovering) this.#pump()
    else if (this.#window.every(({ state }) => state !== 'in-flight' && state !== 'pausing')) void this.#recover()
  }

  /** All that was under way has an answer: what was refused is left out, the rest goes again in order. */
  async #recover(): Promise<void> {
    const errors = this.#window.map(({ lastError }) => lastError).filter((error) => error !== null)
    this.#leaveOutRefused()
    const again = [...this.#window]
    for (const batch of again) batch.state = 'pausing'
    const failed = errors.filter(({ retriable }) => retriable)
    if (failed.length > 0) {
      const asked = failed.map(({ retryAfterMs }) => retryAfterMs).filter((ms) => ms !== null)
      const delayMs = this.#schedule.nextDelayMs(asked.length === 0 ? null : Math.max(...asked)) ?? 0
      try {
        await pause(delayMs, this.#abort.signal)
      } catch (error) {
        if (this.#failure === null) throw error
        return
      }
    }
    this.#recovering = false
    for (const batch of again) {
      batch.lastError = null
      void this.#send(batch)
    }
    this.#pump()
  }

  /** The numbers of what was refused are given to what comes after it, none of which can have been taken before them. */
  #leaveOutRefused(): void {
    const refused = this.#window.filter(({ state }) => state === 'refused')
    const first = refused[0]
    if (first === undefined) return
    let seq = first.seq
    const kept = this.#window.filter(({ state }) => state !== 'refused')
    for (const batch of kept) {
      if (batch.seq < first.seq) continue
      batch.seq = seq
      seq += this.#sender.numbersOf(batch.count)
    }
    this.#nextSeq = seq
    this.#window = kept
    for (const batch of refused) {
      this.#release(batch)
      batch.reject(batch.lastError)
    }
  }

  #fail(error: Error): void {
    if (this.#failure !== null) return
    this.#failure = error
    this.#unlisten()
    if (this.#lingering !== null) clearTimeout(this.#lingering)
    if (this.#soon !== null) clearImmediate(this.#soon)
    const left = [...this.#window, ...this.#sealed, ...(this.#open === null ? [] : [this.#open])]
    this.#window = []
    this.#sealed.length = 0
    this.#open = null
    for (const batch of left) batch.reject(error)
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error)
    this.#abort.abort(error)
  }
}

interface Waiter<Prepared, Position> {
  readonly record: Prepared
  readonly resolve: (receipt: Receipt<Position>) => void
  readonly reject: (error: unknown) => void
  /** When its record is acknowledged, or will never be; never rejects. */
  readonly settled: Promise<void>
}

function lateError(error: PicoError): PicoError {
  return new PicoError('timed_out', `not acknowledged in time; the last attempt: ${error.message}`, {
    status: error.status,
    written: 'maybe',
    cause: error,
  })
}

/** Whoever appended is told of the failure. */
function settledOf(promise: Promise<Receipt<unknown>>): Promise<void> {
  const done = () => undefined
  return promise.then(({ acknowledged }) => acknowledged).then(done, done)
}

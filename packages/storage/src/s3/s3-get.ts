import { GetObjectCommand, type GetObjectCommandOutput, type S3Client } from '@aws-sdk/client-s3'
import { ObjectTruncatedError, StoreFailedError } from '../errors.ts'
import type { ByteRange } from '../object-store.ts'
import { HedgeBudget, hedged } from './hedge.ts'
import { Latencies } from './latencies.ts'
import { BadAnswerError, failureOf, isRetriable } from './s3-failure.ts'
import type { S3Requests } from './s3-requests.ts'
import type { S3Limits, S3Place } from './s3-settings.ts'

interface S3GetParts {
  readonly client: S3Client
  readonly requests: S3Requests
  readonly place: S3Place
  readonly limits: S3Limits
}

/** GETs, every byte counted; a ranged one that is slower than almost all others is sent a second time. */
export class S3Get {
  readonly #client: S3Client
  readonly #requests: S3Requests
  readonly #place: S3Place
  readonly #limits: S3Limits
  readonly #latencies = new Latencies()
  readonly #budget: HedgeBudget

  constructor({ client, requests, place, limits }: S3GetParts) {
    this.#client = client
    this.#requests = requests
    this.#place = place
    this.#limits = limits
    this.#budget = new HedgeBudget(limits.hedgeShareMax)
  }

  whole(key: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
    return this.#requests.run({
      operation: 'get',
      key,
      signal,
      send: (abortSignal) => this.#send(key, null, abortSignal),
    })
  }

  async range(key: string, range: ByteRange, signal: AbortSignal | undefined): Promise<Uint8Array> {
    if (range.length === 0) return this.#nothing(key, range, signal)
    try {
      return await this.#requests.run({
        ...{ operation: 'get', key, bytes: range.length, signal },
        send: (abortSignal) => this.#sendHedged(key, range, abortSignal),
      })
    } catch (error) {
      if (isBeyondEnd(error)) throw new ObjectTruncatedError(key, range, { cause: error.cause })
      throw error
    }
  }

  /** HTTP has no empty range: whether there is such a place in the object shows in the byte before it. */
  async #nothing(key: string, range: ByteRange, signal: AbortSignal | undefined): Promise<Uint8Array> {
    try {
      await this.range(key, { offset: Math.max(0, range.offset - 1), length: 1 }, signal)
    } catch (error) {
      if (!(error instanceof ObjectTruncatedError)) throw error
      if (range.offset > 0) throw new ObjectTruncatedError(key, range, { cause: error })
    }
    return new Uint8Array()
  }

  #sendHedged(key: string, range: ByteRange, signal: AbortSignal): Promise<Uint8Array> {
    this.#budget.earn()
    return hedged({
      signal,
      send: (abortSignal) => this.#timed(key, range, abortSignal),
      afterMs: Math.max(this.#limits.hedgeDelayMsMin, this.#latencies.slowMs(range.length)),
      maySendAgain: () => {
        const release = this.#requests.slots.takeIfFree()
        if (release === null) return null
        if (this.#budget.spend()) {
          this.#requests.count('get')
          this.#requests.counts.hedges += 1
          return release
        }
        release()
        return null
      },
      isAnswer: (error) => {
        const failure = failureOf(error)
        return failure === null || !isRetriable(failure)
      },
    })
  }

  async #timed(key: string, range: ByteRange, signal: AbortSignal): Promise<Uint8Array> {
    const startedMs = performance.now()
    const bytes = await this.#send(key, range, signal)
    this.#latencies.add(range.length, performance.now() - startedMs)
    return bytes
  }

  async #send(key: string, range: ByteRange | null, abortSignal: AbortSignal): Promise<Uint8Array> {
    const object = { Bucket: this.#place.bucket, Key: this.#place.prefix + key }
    const Range = range === null ? undefined : `bytes=${range.offset}-${range.offset + range.length - 1}`
    const answer = await this.#client.send(new GetObjectCommand({ ...object, ...(Range !== undefined && { Range }) }), {
      abortSignal,
    })
    if (range !== null) checkRange(answer, key, range)
    return collect(answer, range?.length ?? answer.ContentLength)
  }
}

/** @throws ObjectTruncatedError when there is less than was asked for; StoreFailedError when the store ignores ranges */
function checkRange({ ContentRange, $metadata, Body }: GetObjectCommandOutput, key: string, range: ByteRange): void {
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(ContentRange ?? '') ?? []
  const end = range.offset + range.length
  if (Number(first) === range.offset && Number(last) === end - 1) return
  if (Body !== undefined && 'destroy' in Body) Body.destroy()
  if (Number(first) === range.offset && Number(size) < end) throw new ObjectTruncatedError(key, range)
  const answer = new Error(`asked for a range, the store answers HTTP ${$metadata.httpStatusCode} with ${ContentRange}`)
  throw new StoreFailedError('get', key, { cause: answer })
}

/** @throws BadAnswerError when the body is not as long as it should be */
async function collect({ Body }: GetObjectCommandOutput, lengthBytes: number | undefined): Promise<Uint8Array> {
  if (lengthBytes === undefined) throw new BadAnswerError('an answer that does not say how long it is')
  const bytes = Buffer.allocUnsafeSlow(lengthBytes)
  let at = 0
  if (Body !== undefined) {
    if (!(Symbol.asyncIterator in Body)) throw new Error('a body that is no stream of Node')
    for await (const chunk of Body as AsyncIterable<Uint8Array>) {
      if (at + chunk.length > lengthBytes) throw new BadAnswerError(`more than the ${lengthBytes} bytes announced`)
      bytes.set(chunk, at)
      at += chunk.length
    }
  }
  if (at < lengthBytes) throw new BadAnswerError(`the answer ends after ${at} of ${lengthBytes} bytes`)
  return bytes
}

function isBeyondEnd(error: unknown): error is StoreFailedError {
  return error instanceof StoreFailedError && failureOf(error.cause)?.kind === 'beyond-end'
}

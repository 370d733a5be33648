import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { StoreFailedError } from '../errors.ts'
import type { ObjectBody } from '../object-store.ts'
import { bodyParts } from './body-parts.ts'
import { PayloadStream, type PutBody, putBody } from './put-body.ts'
import { failureOf } from './s3-failure.ts'
import type { S3Requests } from './s3-requests.ts'
import type { S3Limits, S3Place } from './s3-settings.ts'

interface S3PutParts {
  readonly client: S3Client
  readonly requests: S3Requests
  readonly place: S3Place
  readonly limits: S3Limits
}

interface PutCall {
  /** As the caller gave it. */
  readonly key: string
  readonly signal: AbortSignal | undefined
}

/** Puts: one request for what is in memory or fits into one part, a multipart upload for what does not. */
export class S3Put {
  readonly #client: S3Client
  readonly #requests: S3Requests
  readonly #place: S3Place
  readonly #limits: S3Limits
  /** Without TLS the store has to check what arrives: bytes altered on the way would be acknowledged. */
  readonly #isHashed: boolean
  /** Until the store says that it knows none. */
  #hasMultipart = true

  constructor({ client, requests, place, limits }: S3PutParts) {
    this.#client = client
    this.#requests = requests
    this.#place = place
    this.#limits = limits
    this.#isHashed = place.endpoint?.startsWith('http:') ?? false
  }

  async put(call: PutCall, body: ObjectBody): Promise<void> {
    if (!(Symbol.asyncIterator in body)) return this.#putWhole(call, putBody(body, this.#isHashed))
    const parts = bodyParts(body, this.#limits.partBytes, this.#isHashed)
    try {
      const first = await this.#next(parts, call)
      const second = first === null ? null : await this.#next(parts, call)
      if (second === null) return await this.#putWhole(call, first ?? putBody([], this.#isHashed))
      return await this.#putParts(call, first ?? putBody([], this.#isHashed), second, parts)
    } finally {
      await parts.return(undefined)
    }
  }

  async #next(parts: AsyncGenerator<PutBody>, { signal }: PutCall): Promise<PutBody | null> {
    const { value, done } = await parts.next()
    signal?.throwIfAborted()
    return done === true ? null : value
  }

  async #putWhole({ key, signal }: PutCall, body: PutBody): Promise<void> {
    const { lengthBytes } = body
    await this.#requests.run({
      ...{ operation: 'put', key, bytes: lengthBytes, urgent: true, signal },
      send: async (abortSignal) => {
        const command = new PutObjectCommand({
          ...this.#object(key),
          Body: new PayloadStream(body),
          ContentLength: lengthBytes,
        })
        await this.#client.send(command, { abortSignal })
      },
    })
  }

  async #putParts(call: PutCall, first: PutBody, second: PutBody, rest: AsyncGenerator<PutBody>): Promise<void> {
    const uploadId = this.#hasMultipart ? await this.#begin(call) : null
    if (uploadId === null) return this.#putGathered(call, first, second, rest)
    const failed = new AbortController()
    const signal = AbortSignal.any(call.signal === undefined ? [failed.signal] : [failed.signal, call.signal])
    const completed: CompletedPart[] = []
    let uploading = this.#uploadPart({ ...call, signal }, uploadId, 1, first)
    try {
      let next: PutBody | null = second
      while (next !== null) {
        completed.push(await uploading)
        uploading = this.#uploadPart({ ...call, signal }, uploadId, completed.length + 1, next)
        uploading.catch(() => undefined) // met at the next turn; the body may fail before
        next = await this.#next(rest, call)
      }
      completed.push(await uploading)
      await this.#complete(call, uploadId, completed)
    } catch (error) {
      // A part that arrives after the upload was aborted would be left there.
      failed.abort(error)
      await uploading.catch(() => undefined) // what matters is why the put failed
      await this.#abort(call.key, uploadId)
      throw error
    }
  }

  /** Null when the store has no multipart uploads. */
  async #begin({ key, signal }: PutCall): Promise<string | null> {
    try {
      return await this.#requests.run({
        ...{ operation: 'put', key, signal },
        send: async (abortSignal) => {
          const command = new CreateMultipartUploadCommand(this.#object(key))
          const { UploadId } = await this.#client.send(command, { abortSignal })
          if (UploadId === undefined) throw new Error('an upload without an id')
          return UploadId
        },
      })
    } catch (error) {
      if (!isUnsupported(error)) throw error
      this.#hasMultipart = false
      return null
    }
  }

  #uploadPart({ key, signal }: PutCall, uploadId: string, number: number, body: PutBody): Promise<CompletedPart> {
    const { bucket: Bucket } = this.#place
    const { lengthBytes } = body
    return this.#requests.run({
      ...{ operation: 'put', key, bytes: lengthBytes, signal },
      send: async (abortSignal) => {
        const part = { Bucket, Key: this.#keyOf(key), UploadId: uploadId, PartNumber: number }
        const command = new UploadPartCommand({ ...part, Body: new PayloadStream(body), ContentLength: lengthBytes })
        const { ETag } = await this.#client.send(command, { abortSignal })
        if (ETag === undefined) throw new Error('an uploaded part without an entity tag')
        return { PartNumber: number, ETag }
      },
    })
  }

  /**
   * An answer that is lost leaves it open whether the object is there: some stores then answer the repetition that there is no such
   * upload. The put has failed in that case, and whoever asked for it does as with any put that failed.
   */
  async #complete({ key, signal }: PutCall, uploadId: string, completed: CompletedPart[]): Promise<void> {
    await this.#requests.run({
      ...{ operation: 'put', key, signal },
      // The store may have to put the parts together: as slow as moving them.
      bytes: completed.length * this.#limits.partBytes,
      send: async (abortSignal) => {
        const upload = { Bucket: this.#place.bucket, Key: this.#keyOf(key), UploadId: uploadId }
        const command = new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: completed } })
        await this.#client.send(command, { abortSignal })
      },
    })
  }

  /** The signal that ended the put must not end this. What it cannot clear away is found by `abortUploads`. */
  async #abort(key: string, uploadId: string): Promise<void> {
    const aborted = this.#requests.run({
      ...{ operation: 'abort the upload', key },
      send: async (abortSignal) => {
        const upload = { Bucket: this.#place.bucket, Key: this.#keyOf(key), UploadId: uploadId }
        await this.#client.send(new AbortMultipartUploadCommand(upload), { abortSignal })
      },
    })
    await aborted.catch(() => undefined) // what matters is why the put failed
  }

  async #putGathered(call: PutCall, first: PutBody, second: PutBody, rest: AsyncGenerator<PutBody>): Promise<void> {
    const buffers = [...first.buffers, ...second.buffers]
    for (let part = await this.#next(rest, call); part !== null; part = await this.#next(rest, call))
      buffers.push(...part.buffers)
    await this.#putWhole(call, putBody(buffers, this.#isHashed))
  }

  #object(
    key: string,
  ): Pick<PutObjectCommandInput, 'ServerSideEncryption' | 'StorageClass'> & { Bucket: string; Key: string } {
    const { bucket, sse, storageClass } = this.#place
    return {
      Bucket: bucket,
      Key: this.#keyOf(key),
      ...(sse !== undefined && {
        ServerSideEncryption: sse.algorithm as NonNullable<PutObjectCommandInput['ServerSideEncryption']>,
      }),
      ...(sse?.kmsKeyId !== undefined && { SSEKMSKeyId: sse.kmsKeyId }),
      ...(storageClass !== undefined && {
        StorageClass: storageClass as NonNullable<PutObjectCommandInput['StorageClass']>,
      }),
    }
  }

  #keyOf(key: string): string {
    return this.#place.prefix + key
  }
}

function isUnsupported(error: unknown): boolean {
  return error instanceof StoreFailedError && failureOf(error.cause)?.kind === 'unsupported'
}

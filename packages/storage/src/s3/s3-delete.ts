import { DeleteObjectCommand, DeleteObjectsCommand, type S3Client } from '@aws-sdk/client-s3'
import { ObjectMissingError, StoreDeniedError, StoreFailedError } from '../errors.ts'
import type { S3Requests } from './s3-requests.ts'
import type { S3Place } from './s3-settings.ts'

const batchMax = 1000

interface S3DeleteParts {
  readonly client: S3Client
  readonly requests: S3Requests
  readonly place: S3Place
}

/** Deletes in batches where the store can, else one by one. */
export class S3Delete {
  readonly #client: S3Client
  readonly #requests: S3Requests
  readonly #place: S3Place
  /** Until the store refuses one. */
  #hasBatches = true

  constructor({ client, requests, place }: S3DeleteParts) {
    this.#client = client
    this.#requests = requests
    this.#place = place
  }

  async delete(keys: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const distinct = [...new Set(keys)]
    for (let at = 0; at < distinct.length; at += batchMax) {
      const batch = distinct.slice(at, at + batchMax)
      const left = batch.length > 1 && this.#hasBatches ? await this.#deleteBatch(batch, signal) : batch
      // Each waits for a free slot, of which there are so many.
      await Promise.all(left.map((key) => this.#deleteOne(key, signal)))
    }
  }

  /** The keys that are left to be deleted one by one. */
  async #deleteBatch(keys: readonly string[], signal: AbortSignal | undefined): Promise<readonly string[]> {
    const { bucket: Bucket, prefix } = this.#place
    const objects = keys.map((key) => ({ Key: prefix + key }))
    try {
      const { Errors = [] } = await this.#requests.run({
        ...{ operation: 'delete', key: keys.join(', '), signal },
        send: (abortSignal) => {
          const command = new DeleteObjectsCommand({ Bucket, Delete: { Objects: objects, Quiet: true } })
          return this.#client.send(command, { abortSignal })
        },
      })
      const refused = new Set(Errors.map(({ Key }) => Key))
      return keys.filter((key) => refused.has(prefix + key))
    } catch (error) {
      // Not known, wanted with another checksum, or forbidden where single ones are not: whatever the reason, single ones decide.
      if (!(error instanceof StoreFailedError || error instanceof StoreDeniedError)) throw error
      this.#hasBatches = false
      return keys
    }
  }

  async #deleteOne(key: string, signal: AbortSignal | undefined): Promise<void> {
    const object = { Bucket: this.#place.bucket, Key: this.#place.prefix + key }
    try {
      await this.#requests.run({
        ...{ operation: 'delete', key, signal },
        send: (abortSignal) => this.#client.send(new DeleteObjectCommand(object), { abortSignal }),
      })
    } catch (error) {
      // S3 has nothing against it; some stores do.
      if (!(error instanceof ObjectMissingError)) throw error
    }
  }
}

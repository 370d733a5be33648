import { AbortMultipartUploadCommand, ListMultipartUploadsCommand, type S3Client } from '@aws-sdk/client-s3'
import { StoreFailedError } from '../errors.ts'
import { failureOf } from './s3-failure.ts'
import type { S3Requests } from './s3-requests.ts'
import type { S3Place } from './s3-settings.ts'

interface AbandonedUploadsParts {
  readonly client: S3Client
  readonly requests: S3Requests
  readonly place: S3Place
}

/** Aborts the uploads under the prefix that began before `beforeMs`, of whichever process; returns how many. */
export async function abortUploads(
  { client, requests, place }: AbandonedUploadsParts,
  beforeMs: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { bucket: Bucket, prefix: Prefix } = place
  let aborted = 0
  let marker: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } | null = {}
  while (marker !== null) {
    const from: { readonly KeyMarker?: string; readonly UploadIdMarker?: string } = marker
    const page = await requests.run({
      ...{ operation: 'list the uploads', key: '', signal },
      send: (abortSignal) => client.send(new ListMultipartUploadsCommand({ Bucket, Prefix, ...from }), { abortSignal }),
    })
    for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
      if (Key === undefined || UploadId === undefined || Initiated === undefined || +Initiated >= beforeMs) continue
      if (!Key.startsWith(Prefix)) continue
      const key = Key.slice(Prefix.length)
      const abort = requests.run({
        ...{ operation: 'abort the upload', key, signal },
        send: async (abortSignal) => {
          await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }), { abortSignal })
        },
      })
      await abort.catch((error: unknown) => {
        const hasEnded = error instanceof StoreFailedError && failureOf(error.cause)?.code === 'NoSuchUpload'
        if (!hasEnded) throw error
      })
      aborted += 1
    }
    const { IsTruncated, NextKeyMarker, NextUploadIdMarker } = page
    marker =
      IsTruncated === true && NextKeyMarker !== undefined
        ? {
            KeyMarker: NextKeyMarker,
            ...(NextUploadIdMarker !== undefined && { UploadIdMarker: NextUploadIdMarker }),
          }
        : null
  }
  return aborted
}

import { ListObjectsV2Command, type ListObjectsV2CommandOutput, type S3Client } from '@aws-sdk/client-s3'
import { StoreFailedError } from '../errors.ts'
import type { ObjectInfo } from '../object-store.ts'
import type { S3Requests } from './s3-requests.ts'
import type { S3Place } from './s3-settings.ts'

interface S3ListParts {
  readonly client: S3Client
  readonly requests: S3Requests
  readonly place: S3Place
}

interface ListCall {
  readonly prefix: string
  readonly after: string
  readonly signal: AbortSignal | undefined
}

/** Page by page, a request each; the next one is asked for when the last one was taken. */
export async function* listS3(parts: S3ListParts, call: ListCall): AsyncGenerator<ObjectInfo> {
  const { prefix } = parts.place
  let last = call.after
  let token: string | undefined
  do {
    const page = await listPage(parts, call, token)
    for (const { Key = '', Size = 0, LastModified } of page.Contents ?? []) {
      call.signal?.throwIfAborted()
      if (Key.endsWith('/')) continue // what consoles make to show a folder
      const key = Key.slice(prefix.length)
      if (!Key.startsWith(prefix) || key <= last) throw disordered(call.prefix, `${Key} after ${prefix}${last}`)
      last = key
      if (LastModified === undefined) throw disordered(call.prefix, `${Key} without saying of when it is`)
      yield { key, sizeBytes: Size, modifiedAtMs: LastModified.getTime() }
    }
    token = page.IsTruncated === true ? page.NextContinuationToken : undefined
    if (page.IsTruncated === true && token === undefined)
      throw disordered(call.prefix, 'a page that says there are more, and not how to ask for them')
  } while (token !== undefined)
}

function listPage(
  { client, requests, place }: S3ListParts,
  { prefix, after, signal }: ListCall,
  token: string | undefined,
): Promise<ListObjectsV2CommandOutput> {
  const from = after === '' ? {} : { StartAfter: place.prefix + after }
  return requests.run({
    ...{ operation: 'list', key: prefix, signal },
    send: (abortSignal) => {
      const page = token === undefined ? from : { ContinuationToken: token }
      const command = new ListObjectsV2Command({ Bucket: place.bucket, Prefix: place.prefix + prefix, ...page })
      return client.send(command, { abortSignal })
    },
  })
}

/** What follows from a list that is out of order is wrong in silence: pages skip, or never end. */
function disordered(prefix: string, what: string): StoreFailedError {
  return new StoreFailedError('list', prefix, { cause: new Error(`the store lists ${what}`) })
}

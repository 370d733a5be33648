import { randomUUID } from 'node:crypto'
import type { S3Client } from '@aws-sdk/client-s3'
import { StorageError } from '../errors.ts'
import type { ObjectStore } from '../object-store.ts'
import { failureOf, type S3Failure } from './s3-failure.ts'
import { type S3Place, shownPlace } from './s3-settings.ts'

/** The store cannot be used as it was described; the message says why, and which part of the description to look at. */
export class S3ProbeError extends StorageError {
  override readonly name = 'S3ProbeError'
  readonly code = 'PICO_STORAGE_PROBE_FAILED'
}

interface ProbeParts {
  readonly client: S3Client
  readonly store: ObjectStore
  readonly place: S3Place
}

/** Does once, on a small object, all that is ever asked of the store. @throws S3ProbeError */
export async function probeS3({ client, store, place }: ProbeParts): Promise<void> {
  await requireRegion(client, place)
  await requireCredentials(client, place)
  const key = `probe/start-${randomUUID()}`
  const content = Buffer.from(`pico ${randomUUID()}`)
  const step = async <T>(what: string, work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw problem(place, what, error)
    }
  }
  await step('putting an object', store.put(key, [content]))
  const part = await step('reading a part of an object', store.get(key, { offset: 5, length: 9 }))
  if (!content.subarray(5, 14).equals(part)) throw wrong(place, 'it gave other bytes than were put')
  const found = await step('listing objects', sizeOf(store, key))
  if (found !== content.length)
    throw wrong(place, found === null ? 'it does not list what was put' : 'it lists another size than was put')
  await step('deleting an object', store.delete([key]))
}

async function requireRegion(client: S3Client, place: S3Place): Promise<void> {
  try {
    await client.config.region()
  } catch (cause) {
    throw new S3ProbeError(`${cannotUse(place)}: there is no region: give region=, or set AWS_REGION`, { cause })
  }
}

async function requireCredentials(client: S3Client, place: S3Place): Promise<void> {
  try {
    await client.config.credentials()
  } catch (cause) {
    const remedy = 'set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give this machine a role'
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new S3ProbeError(`${cannotUse(place)}: there are no credentials (${reason}): ${remedy}`, { cause })
  }
}

async function sizeOf(store: ObjectStore, wanted: string): Promise<number | null> {
  for await (const { key, sizeBytes } of store.list(wanted)) if (key === wanted) return sizeBytes
  return null
}

function problem(place: S3Place, what: string, error: unknown): unknown {
  const cause = error instanceof StorageError ? error.cause : error
  const failure = failureOf(cause)
  const said = (reason: string) => new S3ProbeError(`${cannotUse(place)}: ${what} failed: ${reason}`, { cause: error })
  if (failure !== null) return said(`${failure.message}: ${remedyOf(failure, place, cause)}`)
  return error instanceof StorageError ? said(`${error.message}`) : error
}

function wrong(place: S3Place, how: string): S3ProbeError {
  return new S3ProbeError(`${cannotUse(place)}: ${how}: this is no store for what has to last`)
}

function cannotUse(place: S3Place): string {
  return `cannot use ${shownPlace(place)}${place.endpoint === undefined ? '' : ` at ${place.endpoint}`}`
}

/** What to look at: a parameter of the URI where there is one. */
export function remedyOf(failure: S3Failure, place: S3Place, error: unknown): string {
  const { code, status, kind } = failure
  if (kind === 'bucket-missing') return `make the bucket ${place.bucket}, or name another`
  if (isOfRegion(code)) return `give the region of the bucket, region=${regionOf(error) ?? ''}`
  if (kind === 'denied') {
    if (code === 'InvalidAccessKeyId' || code === 'SignatureDoesNotMatch')
      return 'look at AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'
    const objects = `${place.bucket}/${place.prefix}*`
    return `these credentials need s3:PutObject, s3:GetObject and s3:DeleteObject on ${objects}, and s3:ListBucket on ${place.bucket}`
  }
  if (kind === 'refused' || kind === 'unsupported') {
    if (place.storageClass !== undefined && /StorageClass/i.test(code)) return 'look at storageClass='
    if (place.sse !== undefined) return 'look at sse='
    if (place.storageClass !== undefined) return 'look at storageClass='
    if (status === null) return 'look at the certificate behind endpoint= (NODE_EXTRA_CA_CERTS adds an authority)'
    return `look at endpoint= and pathStyle= (now ${place.pathStyle ?? place.endpoint !== undefined})`
  }
  if (kind === 'missing')
    return `is there a store at endpoint=, and does it want pathStyle=${!(place.pathStyle ?? place.endpoint !== undefined)}?`
  if (place.endpoint === undefined) return 'look at region=, or give endpoint= for a store that is not AWS'
  if (code === 'ENOTFOUND' && place.pathStyle === false) return 'look at endpoint=, or give pathStyle=true'
  return 'look at endpoint='
}

function isOfRegion(code: string): boolean {
  return ['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException'].includes(code)
}

function regionOf(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null
  if ('Region' in error && typeof error.Region === 'string') return error.Region
  return null
}

import { resolve } from 'node:path'
import type { S3Place } from '@pico/storage/s3'
import { parseByteSize } from './byte-size.ts'
import { UsageError } from './exit-errors.ts'
import { parseS3Place, s3Parameters } from './s3-uri.ts'

/** Where a bucket is: a folder, or in S3. */
export type StorePlace = { readonly scheme: 'file'; readonly folder: string } | ({ readonly scheme: 's3' } & S3Place)

/** `-2@file://./data/objects`: a bucket id, which is only kept, and where the bucket is. */
export interface StoreUri {
  readonly bucketId: number
  readonly place: StorePlace
}

export interface WalUri extends StoreUri {
  /** `segment`: frames in files of its own, the frame is the commit. `object`: an object per flush and a commit in SQL. */
  readonly kind: 'segment' | 'object'
  readonly batchIntervalMs?: number
  readonly batchBytesMax?: number
  readonly unflushedBytesMax?: number
  readonly uploadsInFlightMax?: number
}

/** As given: which kind follows from the place and the database when it is not said. */
export type GivenWalUri = Omit<WalUri, 'kind'> & Partial<Pick<WalUri, 'kind'>>

/** @throws UsageError naming --storage */
export function parseStorage(text: string): StoreUri {
  return parse(text, '--storage', []).uri
}

const walParameters = ['kind', 'batchInterval', 'maxBytesInBatch', 'maxUnflushedBytes', 'maxInflightUploadCount']

/** @throws UsageError naming --wal */
export function parseWal(text: string): GivenWalUri {
  const { uri, parameters } = parse(text, '--wal', walParameters)
  const kind = parameters.get('kind') ?? undefined
  if (kind !== undefined && kind !== 'segment' && kind !== 'object')
    throw new UsageError(`--wal: kind=${kind} is neither segment nor object`)
  if (kind === 'segment' && uri.place.scheme === 's3')
    throw new UsageError('--wal: kind=segment is files that grow in place, which s3:// has none of; use kind=object')
  const size = (name: string) => ifGiven(parameters.get(name), (value) => parseByteSize(value, `--wal: ${name}`))
  const count = (name: string, least: number) =>
    ifGiven(parameters.get(name), (value) => parseCount(value, least, `--wal: ${name}`))
  return {
    ...uri,
    ...(kind !== undefined && { kind }),
    ...named('batchIntervalMs', count('batchInterval', 0)),
    ...named('batchBytesMax', size('maxBytesInBatch')),
    ...named('unflushedBytesMax', size('maxUnflushedBytes')),
    ...named('uploadsInFlightMax', count('maxInflightUploadCount', 1)),
  }
}

function parse(
  text: string,
  flag: string,
  ownParameters: readonly string[],
): { readonly uri: StoreUri; readonly parameters: URLSearchParams } {
  const match = /^(-?\d+)@([a-z0-9]+):\/\/([^?]*)(?:\?(.*))?$/i.exec(text)
  if (match === null)
    throw new UsageError(
      `${flag}: ${JSON.stringify(text)} is not <bucket id>@<uri>, such as -2@file://./data/objects or -2@s3://bucket?region=us-east-1`,
    )
  const [, bucketId = '', scheme = '', path = '', query = ''] = match
  const parameters = new URLSearchParams(query)
  if (scheme !== 'file' && scheme !== 's3')
    throw new UsageError(`${flag}: ${scheme}:// is not a storage this version knows; use file:// or s3://`)
  refuseUnknown(parameters, scheme === 's3' ? [...s3Parameters, ...ownParameters] : ownParameters, flag)
  if (path === '')
    throw new UsageError(`${flag}: ${JSON.stringify(text)} names no ${scheme === 's3' ? 'bucket' : 'folder'}`)
  const place: StorePlace =
    scheme === 's3'
      ? { scheme, ...parseS3Place(path, parameters, flag) }
      : { scheme, folder: resolve(decodeURIComponent(path)) }
  return { uri: { bucketId: Number(bucketId), place }, parameters }
}

function refuseUnknown(parameters: URLSearchParams, known: readonly string[], flag: string): void {
  for (const name of parameters.keys()) {
    if (!known.includes(name))
      throw new UsageError(
        `${flag}: unknown parameter ${name}${known.length === 0 ? '' : `; known are ${known.join(', ')}`}`,
      )
  }
}

function parseCount(text: string, least: number, flag: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < least)
    throw new UsageError(`${flag}: ${JSON.stringify(text)} is not a whole number of at least ${least}`)
  return value
}

function ifGiven<T>(text: string | null, parse: (text: string) => T): T | undefined {
  return text === null ? undefined : parse(text)
}

function named<Name extends string, T>(name: Name, value: T | undefined): { readonly [N in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: T }
}

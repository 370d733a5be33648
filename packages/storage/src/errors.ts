/** Every failure a store, a format or the cache can report; `code` is stable, the message is for people. */
export type StorageErrorCode =
  | 'PICO_STORAGE_OBJECT_MISSING'
  | 'PICO_STORAGE_OBJECT_TRUNCATED'
  | 'PICO_STORAGE_OBJECT_CORRUPT'
  | 'PICO_STORAGE_SEGMENT_DAMAGED'
  | 'PICO_STORAGE_SEGMENT_EXISTS'
  | 'PICO_STORAGE_SEGMENT_FAILED'
  | 'PICO_STORAGE_INVALID_KEY'
  | 'PICO_STORAGE_MALFORMED'
  | 'PICO_STORAGE_UNSUPPORTED_VERSION'
  | 'PICO_STORAGE_FAILED'
  | 'PICO_STORAGE_UNAVAILABLE'
  | 'PICO_STORAGE_DENIED'
  | 'PICO_STORAGE_BUCKET_MISSING'
  | 'PICO_STORAGE_PROBE_FAILED'
  | 'PICO_STORAGE_CLOSED'

export abstract class StorageError extends Error {
  abstract readonly code: StorageErrorCode
}

export class ObjectMissingError extends StorageError {
  override readonly name = 'ObjectMissingError'
  readonly code = 'PICO_STORAGE_OBJECT_MISSING'
  readonly key: string

  constructor(key: string, options?: ErrorOptions) {
    super(`no object ${key}`, options)
    this.key = key
  }
}

/** The object ends before the range that was asked for. */
export class ObjectTruncatedError extends StorageError {
  override readonly name = 'ObjectTruncatedError'
  readonly code = 'PICO_STORAGE_OBJECT_TRUNCATED'
  readonly key: string

  constructor(key: string, range: { readonly offset: number; readonly length: number }, options?: ErrorOptions) {
    super(`object ${key} ends before byte ${range.offset + range.length}`, options)
    this.key = key
  }
}

/** Bytes are there but are not what was written. */
export class ObjectCorruptError extends StorageError {
  override readonly name = 'ObjectCorruptError'
  readonly code = 'PICO_STORAGE_OBJECT_CORRUPT'
  readonly key: string
  /** Where the bad bytes begin, from the start of the object. */
  readonly position: number

  constructor(key: string, position: number, reason: string, options?: ErrorOptions) {
    super(`object ${key} is corrupt at byte ${position}: ${reason}`, options)
    this.key = key
    this.position = position
  }
}

/** A segment in which acknowledged data cannot be read back: never to be skipped over in silence. */
export class SegmentDamagedError extends StorageError {
  override readonly name = 'SegmentDamagedError'
  readonly code = 'PICO_STORAGE_SEGMENT_DAMAGED'
  readonly key: string
  readonly position: number

  constructor(key: string, position: number, reason: string, options?: ErrorOptions) {
    super(`segment ${key} is damaged at byte ${position}: ${reason}`, options)
    this.key = key
    this.position = position
  }
}

/** A segment of that key exists. A segment is never created over another one, which may hold acknowledged data. */
export class SegmentExistsError extends StorageError {
  override readonly name = 'SegmentExistsError'
  readonly code = 'PICO_STORAGE_SEGMENT_EXISTS'
  readonly key: string

  constructor(key: string, options?: ErrorOptions) {
    super(`segment ${key} exists`, options)
    this.key = key
  }
}

/** A write or sync of a segment failed: nothing is known about its bytes, and the writer takes no more. */
export class SegmentFailedError extends StorageError {
  override readonly name = 'SegmentFailedError'
  readonly code = 'PICO_STORAGE_SEGMENT_FAILED'
  readonly key: string

  constructor(key: string, options?: ErrorOptions) {
    super(`writing segment ${key} failed${because(options)}`, options)
    this.key = key
  }
}

export class InvalidKeyError extends StorageError {
  override readonly name = 'InvalidKeyError'
  readonly code = 'PICO_STORAGE_INVALID_KEY'
  readonly key: string

  constructor(key: string, reason: string, options?: ErrorOptions) {
    super(`invalid object key ${JSON.stringify(key)}: ${reason}`, options)
    this.key = key
  }
}

/** Bytes that are not of the format they should be, read without a key at hand. */
export class MalformedError extends StorageError {
  override readonly name = 'MalformedError'
  readonly code = 'PICO_STORAGE_MALFORMED'
}

/** Intact bytes, written in a format version that this release does not know. */
export class UnsupportedVersionError extends StorageError {
  override readonly name = 'UnsupportedVersionError'
  readonly code = 'PICO_STORAGE_UNSUPPORTED_VERSION'
  readonly key: string
  readonly version: number

  constructor(key: string, version: number, options?: ErrorOptions) {
    super(`${key} is of format version ${version}, which this release cannot read`, options)
    this.key = key
    this.version = version
  }
}

/** The store could not do what was asked: a full disk, an I/O error, a service that does not answer. May work later. */
export class StoreFailedError extends StorageError {
  override readonly name = 'StoreFailedError'
  readonly code = 'PICO_STORAGE_FAILED'
  readonly key: string

  constructor(operation: string, key: string, options?: ErrorOptions) {
    super(`${operation} of ${key} failed${because(options)}`, options)
    this.key = key
  }
}

/** A service that did not answer in time, was overloaded or out of order, however often it was asked. Trying again later makes sense. */
export class StoreUnavailableError extends StorageError {
  override readonly name = 'StoreUnavailableError'
  readonly code = 'PICO_STORAGE_UNAVAILABLE'
  readonly key: string

  constructor(operation: string, key: string, reason: string, options?: ErrorOptions) {
    super(`${operation} of ${key} had no success: ${reason}`, options)
    this.key = key
  }
}

/** There are no credentials, they are not accepted, or they do not allow this. */
export class StoreDeniedError extends StorageError {
  override readonly name = 'StoreDeniedError'
  readonly code = 'PICO_STORAGE_DENIED'
  readonly key: string

  constructor(operation: string, key: string, reason: string, options?: ErrorOptions) {
    super(`${operation} of ${key} was denied: ${reason}`, options)
    this.key = key
  }
}

export class BucketMissingError extends StorageError {
  override readonly name = 'BucketMissingError'
  readonly code = 'PICO_STORAGE_BUCKET_MISSING'
  readonly bucket: string

  constructor(bucket: string, options?: ErrorOptions) {
    super(`there is no bucket ${bucket}`, options)
    this.bucket = bucket
  }
}

export class StoreClosedError extends StorageError {
  override readonly name = 'StoreClosedError'
  readonly code = 'PICO_STORAGE_CLOSED'

  constructor() {
    super('the store is closed')
  }
}

/** The system's code of a failure (`ENOSPC`, `EIO`…) if it has one. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function because(options?: ErrorOptions): string {
  return options?.cause instanceof Error ? `: ${options.cause.message}` : ''
}

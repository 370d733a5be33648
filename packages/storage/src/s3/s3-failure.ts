import {
  BucketMissingError,
  ObjectMissingError,
  StorageError,
  StoreDeniedError,
  StoreFailedError,
  StoreUnavailableError,
} from '../errors.ts'

/**
 * What a request failed for, whatever the store calls it. `throttled` and `unavailable` are worth another try; `unsupported` is a
 * request that the store does not know; `refused` is one that it will never accept.
 */
export type S3FailureKind =
  | 'missing'
  | 'bucket-missing'
  | 'beyond-end'
  | 'denied'
  | 'throttled'
  | 'unavailable'
  | 'unsupported'
  | 'refused'

export interface S3Failure {
  readonly kind: S3FailureKind
  /** The store's or the system's word: `SlowDown`, `ECONNRESET`. */
  readonly code: string
  /** HTTP status; null where there was no answer. */
  readonly status: number | null
  readonly message: string
}

/** Fewer bytes, or others, than the answer announced. */
export class BadAnswerError extends Error {
  override readonly name = 'BadAnswerError'
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html, and what others add: SlowDownRead is MinIO's. */
const kindsByCode: Readonly<Record<string, S3FailureKind>> = {
  NoSuchKey: 'missing',
  NoSuchBucket: 'bucket-missing',
  NoSuchUpload: 'refused',
  InvalidRange: 'beyond-end',
  AccessDenied: 'denied',
  AllAccessDisabled: 'denied',
  AccountProblem: 'denied',
  CredentialsProviderError: 'denied',
  ExpiredToken: 'denied',
  InvalidAccessKeyId: 'denied',
  InvalidToken: 'denied',
  SignatureDoesNotMatch: 'denied',
  SlowDown: 'throttled',
  SlowDownRead: 'throttled',
  SlowDownWrite: 'throttled',
  RequestLimitExceeded: 'throttled',
  ThrottlingException: 'throttled',
  TooManyRequests: 'throttled',
  TooManyRequestsException: 'throttled',
  BadDigest: 'unavailable',
  IncompleteBody: 'unavailable',
  InternalError: 'unavailable',
  OperationAborted: 'unavailable',
  RequestTimeTooSkewed: 'unavailable', // the client has set its clock by the answer
  RequestTimeout: 'unavailable',
  XAmzContentSHA256Mismatch: 'unavailable',
  MethodNotAllowed: 'unsupported',
  NotImplemented: 'unsupported',
}

/** Of OpenSSL and Node: no repetition mends a certificate. */
const tlsRefusal = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_|ERR_SSL_|HOSTNAME_MISMATCH)/

/** Of the system, of Node's sockets and streams, of its HTTP parser. */
const connectionFailure = /^(E[A-Z0-9]+|ERR_SOCKET_\w+|ERR_STREAM_\w+|ERR_HTTP_\w+|HPE_\w+)$/

/** Null for what is neither the store's nor the network's doing: a bug, or an error of the caller's own. */
export function failureOf(error: unknown): S3Failure | null {
  if (!(error instanceof Error) || error instanceof StorageError) return null
  const status = statusOf(error)
  const systemCode = 'code' in error && typeof error.code === 'string' ? error.code : null
  const { name, message } = error
  if (status === null && systemCode !== null && name !== 'CredentialsProviderError') {
    const kind = tlsRefusal.test(systemCode) ? 'refused' : connectionFailure.test(systemCode) ? 'unavailable' : null
    if (kind === null) return null
    return { kind, code: systemCode, status, message: message === '' ? systemCode : message }
  }
  const kind = kindsByCode[name] ?? kindByStatus(status) ?? kindByName(name)
  return kind === null ? null : { kind, code: name, status, message: messageOf(error, status) }
}

export function isRetriable({ kind }: S3Failure): boolean {
  return kind === 'throttled' || kind === 'unavailable'
}

/** The failure as the error of an `ObjectStore`, which names the key. */
export function storageErrorOf(
  failure: S3Failure,
  at: { readonly operation: string; readonly bucket: string; readonly key: string },
  cause: unknown,
): StorageError {
  const { operation, bucket, key } = at
  const reason = failure.message
  switch (failure.kind) {
    case 'missing':
      return new ObjectMissingError(key, { cause })
    case 'bucket-missing':
      return new BucketMissingError(bucket, { cause })
    case 'denied':
      return new StoreDeniedError(operation, key, reason, { cause })
    case 'throttled':
    case 'unavailable':
      return new StoreUnavailableError(operation, key, reason, { cause })
    case 'beyond-end':
    case 'unsupported':
    case 'refused':
      return new StoreFailedError(operation, key, { cause })
  }
}

function kindByStatus(status: number | null): S3FailureKind | null {
  if (status === null) return null
  if (status === 404) return 'missing'
  if (status === 416) return 'beyond-end'
  if (status === 401 || status === 403) return 'denied'
  if (status === 405 || status === 501) return 'unsupported'
  if (status === 429 || status === 503) return 'throttled'
  // Below 300 it is an answer that could not be read, as of a proxy that is in between.
  return status >= 500 || status === 408 || status < 300 ? 'unavailable' : 'refused'
}

function kindByName(name: string): S3FailureKind | null {
  return name === 'TimeoutError' || name === 'BadAnswerError' ? 'unavailable' : null
}

function statusOf(error: Error): number | null {
  const metadata = '$metadata' in error ? error.$metadata : null
  const status =
    typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata && metadata.httpStatusCode
  return typeof status === 'number' ? status : null
}

function messageOf({ name, message }: Error, status: number | null): string {
  const said = message === '' || message === name ? name : `${name}: ${message}`
  return status === null ? said : `${said} (HTTP ${status})`
}

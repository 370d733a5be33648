/** Where the objects are and how they are kept: what an operator says, in `s3://bucket/prefix?region=…`. */
export interface S3Place {
  readonly bucket: string
  /** Before every key, with its `/` at the end; '' for the whole bucket. */
  readonly prefix: string
  /** Left to the AWS chain (AWS_REGION, the profile) unless given; `us-east-1` where an endpoint is given without one. */
  readonly region?: string
  /** `http://127.0.0.1:9000`. AWS unless given. */
  readonly endpoint?: string
  /** The bucket in the path, not in the host name. True where an endpoint is given, unless said otherwise. */
  readonly pathStyle?: boolean
  /** Encryption at rest that puts ask for; the bucket's own default unless given. */
  readonly sse?: S3Encryption
  readonly storageClass?: string
}

export interface S3Encryption {
  /** `AES256`, `aws:kms`, `aws:kms:dsse`. */
  readonly algorithm: string
  /** The bucket's default key unless given. */
  readonly kmsKeyId?: string
}

/** How hard it tries. */
export interface S3Limits {
  /** Requests on their way at once, and connections held open. */
  readonly requestsInFlightMax: number
  /** A request, with all its repetitions and its time in line, that takes longer has failed. Of a multipart upload, each part is one. */
  readonly callDeadlineMs: number
  /** A single try that takes longer is given up and made again. */
  readonly attemptDeadlineMs: number
  /** Both deadlines grow by the time that the bytes would take at this speed. */
  readonly slowestBytesPerSecond: number
  /** The first pause before trying again; it doubles each time. A pause is drawn from its upper half. */
  readonly retryDelayMsMin: number
  readonly retryDelayMsMax: number
  /** Larger objects are uploaded in parts of this size, one while the next one fills: twice this much memory for each upload. */
  readonly partBytes: number
  /** No second GET before this long, whatever the percentile of earlier ones. */
  readonly hedgeDelayMsMin: number
  /** Second GETs, as a share of all GETs. 0 for none. */
  readonly hedgeShareMax: number
}

const MiB = 1024 * 1024

export const defaultS3Limits: S3Limits = {
  requestsInFlightMax: 64,
  callDeadlineMs: 30_000,
  attemptDeadlineMs: 5_000,
  slowestBytesPerSecond: MiB,
  retryDelayMsMin: 50,
  retryDelayMsMax: 2_000,
  partBytes: 64 * MiB,
  hedgeDelayMsMin: 20,
  hedgeShareMax: 0.05,
}

export type S3Settings = S3Place & Partial<S3Limits>

/** `s3://bucket/prefix`, for people. */
export function shownPlace({ bucket, prefix }: S3Place): string {
  return `s3://${bucket}/${prefix}`
}

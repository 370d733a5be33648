import { ReadError } from '@pico/binary'

export type CodecErrorCode =
  | 'PICO_KAFKA_DECODE_FAILED' // the bytes are not such a message
  | 'PICO_KAFKA_ENCODE_FAILED' // the value does not fit the message at that version
  | 'PICO_KAFKA_UNSUPPORTED_VERSION' // there is no such version of the message

/** Why a message could not be decoded or encoded. `message` reads `Produce request v9: topicData[0].name: …`. */
export class CodecError extends Error {
  override readonly name = 'CodecError'
  readonly code: CodecErrorCode
  /** Message name as Kafka spells it, such as `Produce request`. */
  readonly api: string
  readonly version: number
  /** Where decoding failed, in bytes from the start of the reader's view; undefined when encoding. */
  readonly offset: number | undefined
  /** Path of the field, such as `topicData[0].name`; empty when the message as a whole is at fault. */
  readonly field: string

  constructor(code: CodecErrorCode, api: string, version: number, field: string, reason: string, cause?: unknown) {
    super(`${api} v${version}: ${field === '' ? '' : `${field}: `}${reason}`, { cause })
    this.code = code
    this.api = api
    this.version = version
    this.field = field
    this.offset = cause instanceof ReadError ? cause.offset : undefined
  }
}

/** Carries a failure up through nested fields and collects its path on the way; becomes a `CodecError` at the top. */
export class FieldFailure extends Error {
  override readonly name = 'FieldFailure'
  readonly path: string

  constructor(path: string, cause: unknown) {
    super(path, { cause })
    this.path = path
  }

  /** The same failure seen from one level up: `step` is a field's name or `[index]`. */
  static within(step: string, error: unknown): FieldFailure {
    if (!(error instanceof FieldFailure)) return new FieldFailure(step, error)
    const separator = error.path.startsWith('[') ? '' : '.'
    return new FieldFailure(`${step}${separator}${error.path}`, error.cause)
  }
}

export function decodeFailure(api: string, version: number, error: unknown): CodecError {
  return failure('PICO_KAFKA_DECODE_FAILED', api, version, error)
}

export function encodeFailure(api: string, version: number, error: unknown): CodecError {
  return failure('PICO_KAFKA_ENCODE_FAILED', api, version, error)
}

function failure(code: CodecErrorCode, api: string, version: number, error: unknown): CodecError {
  const path = error instanceof FieldFailure ? error.path : ''
  const cause = error instanceof FieldFailure ? error.cause : error
  return new CodecError(code, api, version, path, cause instanceof Error ? cause.message : String(cause), cause)
}

export type FrameErrorCode =
  | 'PICO_KAFKA_FRAME_BAD_LENGTH' // negative
  | 'PICO_KAFKA_FRAME_TOO_LARGE'

/** A length in front of a frame that cannot be honoured. Kafka closes the connection without an answer. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
  readonly code: FrameErrorCode
  readonly lengthBytes: number

  constructor(code: FrameErrorCode, lengthBytes: number, maxFrameBytes: number) {
    super(`a frame of ${lengthBytes} bytes; 0 to ${maxFrameBytes} are allowed`)
    this.code = code
    this.lengthBytes = lengthBytes
  }
}

export type RecordBatchErrorCode =
  | 'PICO_RECORD_BATCH_TRUNCATED' // the bytes end before the batch or message does
  | 'PICO_RECORD_BATCH_WRONG_MAGIC' // a format version that the operation cannot read
  | 'PICO_RECORD_BATCH_CORRUPT' // a length below the minimum, or a checksum that does not match
  | 'PICO_RECORD_BATCH_BAD_RECORD' // the batch is whole but its records are not what its header says
  | 'PICO_RECORD_BATCH_UNKNOWN_CODEC' // compression ids 5 to 7
  | 'PICO_RECORD_BATCH_BAD_COMPRESSION' // compressed bytes that their own format does not allow
  | 'PICO_RECORD_BATCH_DECOMPRESSED_TOO_LARGE' // more decompressed bytes than the caller allows
  | 'PICO_RECORD_BATCH_UNSAFE_INTEGER' // a 64-bit field that `number` cannot hold exactly
  | 'PICO_RECORD_BATCH_OUT_OF_RANGE' // a value given to a builder or a patch that its field cannot hold

/** The only error this package throws because of its input. Match on `code`. */
export class RecordBatchError extends Error {
  override readonly name = 'RecordBatchError'
  readonly code: RecordBatchErrorCode

  constructor(code: RecordBatchErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

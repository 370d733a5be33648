export type ReadErrorCode =
  | 'PICO_BINARY_PAST_END' // fewer bytes are left than the read needs
  | 'PICO_BINARY_BAD_LENGTH' // a length that no input could satisfy: negative, or not an integer
  | 'PICO_BINARY_BAD_VARINT' // longer than its type allows, or more bits than its type holds
  | 'PICO_BINARY_UNSAFE_INTEGER' // a 64-bit value asked for as `number` that `number` cannot hold exactly

/** Input that cannot be read. `offset` is where the failed read began, in bytes from the start of the reader's view. */
export class ReadError extends Error {
  override readonly name = 'ReadError'
  readonly code: ReadErrorCode
  readonly offset: number

  constructor(code: ReadErrorCode, offset: number, message: string) {
    super(`${message} (at byte ${offset})`)
    this.code = code
    this.offset = offset
  }
}

/** A value that the field's wire type cannot hold. Nothing of it was written. */
export class WriteError extends Error {
  override readonly name = 'WriteError'
  readonly code = 'PICO_BINARY_OUT_OF_RANGE'
}

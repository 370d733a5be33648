import { RecordBatchError } from './errors.ts'

export function decompressedTooLarge(codec: string, maxBytes: number, cause?: unknown): RecordBatchError {
  const message = `${codec} data holds more than the ${maxBytes} bytes allowed`
  return new RecordBatchError('PICO_RECORD_BATCH_DECOMPRESSED_TOO_LARGE', message, { cause })
}

export function badCompression(codec: string, message: string, cause?: unknown): RecordBatchError {
  return new RecordBatchError('PICO_RECORD_BATCH_BAD_COMPRESSION', `invalid ${codec} data: ${message}`, { cause })
}

/** The message of whatever a decompression library threw. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

import type { ServerConfig } from './serve-config.ts'
import { shownPlace } from './shown-place.ts'

/** What an operator should know of S3 beside a database on this machine's disk: which losses the records survive. */
export function storagePromises({ metadata, storage, wal, packBytes, packIntervalMs }: ServerConfig): string[] {
  if (metadata.kind !== 'sqlite') return []
  if (storage.place.scheme !== 's3' && wal.place.scheme !== 's3') return []
  const promises = [
    `records are in ${shownPlace(storage)}, but which object holds which of them is in ${metadata.path} alone: without that file they cannot be found, and only the process that has it can serve them`,
  ]
  if (wal.kind === 'segment') {
    const packed = `${Math.round(packBytes / 2 ** 20)} MiB or ${packIntervalMs / 1000} s later`
    promises.push(
      `an acknowledged record is in ${shownPlace(wal)} until it is packed into ${shownPlace(storage)}, about ${packed}: until then it is lost when that disk is`,
    )
  }
  return promises
}

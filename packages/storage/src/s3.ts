import { openS3Connection } from './s3/s3-connection.ts'
import { probeS3 } from './s3/s3-probe.ts'
import { defaultS3Limits, type S3Settings } from './s3/s3-settings.ts'
import { S3ObjectStore, type S3Store } from './s3/s3-store.ts'

export { S3ProbeError } from './s3/s3-probe.ts'
export { defaultS3Limits, type S3Encryption, type S3Limits, type S3Place, type S3Settings } from './s3/s3-settings.ts'
export type { S3Store } from './s3/s3-store.ts'

/** Of a request of the probe: long enough for a store that is starting beside us, short enough for whoever waits for an answer. */
const probeDeadlineMs = 10_000

/**
 * Objects in a bucket of S3, or of a store that speaks its protocol. Tried before it is handed out: a small object is put, read,
 * listed and deleted.
 * @throws S3ProbeError when that does not work, with the reason and the parameter to look at
 */
export async function openS3Store(settings: S3Settings): Promise<S3Store> {
  const limits = { ...defaultS3Limits, ...settings }
  const client = openS3Connection(settings, limits)
  const store = new S3ObjectStore({ client, place: settings, limits })
  try {
    const callDeadlineMs = Math.min(probeDeadlineMs, limits.callDeadlineMs)
    const probed = new S3ObjectStore({ client, place: settings, limits: { ...limits, callDeadlineMs } })
    await probeS3({ client, store: probed, place: settings })
    return store
  } catch (error) {
    await store.close()
    throw error
  }
}

import type { S3Store } from '@pico/storage/s3'

/** As long as the log waits for an upload before it takes it for abandoned. */
const abandonedAfterMs = 60 * 60 * 1000
const roundMs = 60 * 60 * 1000

/**
 * Aborts multipart uploads that a killed process has left under this prefix, now and every hour: no such upload lives longer than two
 * hours while anything serves there. Any number of nodes may do it at once.
 */
export function abortOldUploads(
  store: Pick<S3Store, 'abortUploads'>,
  onProblem: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const round = async () => {
    try {
      await store.abortUploads(Date.now() - abandonedAfterMs, { signal })
    } catch (error) {
      if (!signal.aborted) onProblem(error)
    }
  }
  let running = round()
  const timer = setInterval(() => {
    running = running.then(round)
  }, roundMs)
  return {
    async stop() {
      clearInterval(timer)
      stopping.abort(new Error('the server stops'))
      await running
    },
  }
}

import type { S3Store } from '@pico/storage/s3'

/** As long as the log waits for an upload before it takes it for abandoned. */
const abandonedAfterMs = 60 * 60 * 1000
const roundMs = 10 * 60 * 1000

/**
 * Aborts multipart uploads that a killed process has left under this prefix, now and every ten minutes while this node is the one to do
 * it: no such upload lives much longer than an hour while anything serves there. That two do it at once does no harm.
 * @param leads whether this node does what one node does for all
 */
export function abortOldUploads(
  store: Pick<S3Store, 'abortUploads'>,
  leads: () => boolean,
  onProblem: (error: unknown) => void,
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const { signal } = stopping
  const round = async () => {
    if (!leads()) return
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

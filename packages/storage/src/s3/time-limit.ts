export interface TimeLimit {
  /** Aborted with the reason of the parent, or when the time is up. */
  readonly signal: AbortSignal
  /** To be called when what it limits is over, or the timer would outlive it. */
  clear(): void
}

/** `parent`, which also ends after `limitMs`, with a `DOMException` named `TimeoutError`. */
export function limitTime(parent: AbortSignal | undefined, limitMs: number): TimeLimit {
  const controller = new AbortController()
  const onAbort = () => controller.abort(parent?.reason)
  if (parent?.aborted) onAbort()
  else parent?.addEventListener('abort', onAbort, { once: true })
  const timer = setTimeout(() => {
    controller.abort(new DOMException(`no answer within ${Math.round(limitMs)} ms`, 'TimeoutError'))
  }, limitMs)
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer)
      parent?.removeEventListener('abort', onAbort)
    },
  }
}

/** What a load that runs is told. */
export interface LoadState {
  /** Begin nothing new. */
  isStopping: boolean
  /** Give up what is under way: nobody waits any more. */
  isAbandoned: boolean
}

/** Lets a load run. A failure of it is thrown by `stop`; so is that it had not come to its end in time, where there is one. */
export function startLoop(
  name: string,
  state: LoadState,
  run: () => Promise<void>,
): { stop(timeoutMs?: number): Promise<void> } {
  const done = run()
  done.catch(() => undefined) // for whoever stops it
  return {
    async stop(timeoutMs) {
      state.isStopping = true
      if (timeoutMs === undefined) return done
      const late = setTimeout(() => {
        state.isAbandoned = true
      }, timeoutMs)
      await done.finally(() => clearTimeout(late))
      if (state.isAbandoned) throw new Error(`${name}: no answer for ${timeoutMs} ms after the load`)
    },
  }
}

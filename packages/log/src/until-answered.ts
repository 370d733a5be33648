import { MetadataUnavailableError } from '@pico/metadata'
import type { Clock } from './clock.ts'

const retryMs = 250

/**
 * Makes a call to the database that may be repeated until it is answered. Whether a commit happened is not known while the answer is
 * lost, and what is in memory has to follow what happened: to go on as if it had not would be a guess.
 * @throws what the call throws, and MetadataUnavailableError once `isOver`
 */
export async function untilAnswered<T>(clock: Clock, isOver: () => boolean, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof MetadataUnavailableError) || isOver()) throw error
    }
    await new Promise<void>((resume) => clock.after(retryMs, resume))
  }
}

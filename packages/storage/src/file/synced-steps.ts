import { setTimeout as sleep } from 'node:timers/promises'
import type { WriteHaste } from '../object-store.ts'

/** A long write is synced in steps of this, so that another file's sync does not wait for all of it... */
const stepBytes = 8 * 1024 * 1024
/** ...and one that nobody waits for in smaller ones, each followed by a rest of so many times what it took. */
const unhurriedStepBytes = 512 * 1024
const restPerSync = 2
/** Whoever waits after all, or gives up, is noticed by then. */
const restMsMax = 100

/** The syncs of a file while it is being written. What follows the last one, its owner syncs. */
export class SyncedSteps {
  readonly #file: { datasync(): Promise<void> }
  readonly #unhurried: () => boolean
  #unsyncedBytes = 0

  constructor(file: { datasync(): Promise<void> }, { unhurried = () => false }: WriteHaste) {
    this.#file = file
    this.#unhurried = unhurried
  }

  /** To be waited for before more is written. */
  async wrote(bytes: number): Promise<void> {
    this.#unsyncedBytes += bytes
    const isUnhurried = this.#unhurried()
    if (this.#unsyncedBytes < (isUnhurried ? unhurriedStepBytes : stepBytes)) return
    const beganMs = performance.now()
    await this.#file.datasync()
    this.#unsyncedBytes = 0
    if (isUnhurried) await sleep(Math.min(restMsMax, restPerSync * (performance.now() - beganMs)))
  }
}

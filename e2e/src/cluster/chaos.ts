import { setTimeout as sleep } from 'node:timers/promises'
import { type FaultKind, type FaultSettings, faultKinds, faults } from './chaos-faults.ts'

export interface ChaosSettings extends FaultSettings {
  /** From the beginning of a fault to that of the next: or until it is mended, where that takes longer. */
  readonly everyMs: number
  /** So many faults: every kind once, in a random order, before any comes again. */
  readonly faults: number
  /** All of them, when left out. */
  readonly kinds?: readonly FaultKind[]
}

/** Lets one fault after the other happen. What is chosen depends on the seed of `random` alone. Prints each. */
export async function runChaos(settings: ChaosSettings): Promise<void> {
  const { cluster, random, everyMs, kinds = faultKinds } = settings
  const startedMs = performance.now()
  let left: FaultKind[] = []
  for (let number = 1; number <= settings.faults; number++) {
    if (left.length === 0) left = random.shuffled(kinds)
    const kind = left.pop()!
    const fromMs = performance.now()
    const at = `${((fromMs - startedMs) / 1000).toFixed(1)} s, ${new Date().toISOString()}`
    console.log(`${number}. ${kind} (${at}): ${await faults[kind]({ ...settings, random: random.fork() })}`)
    for (const node of cluster.nodes) {
      const exit = node.endedByItself()
      if (exit !== undefined) throw new Error(`node ${node.nodeId} ended with ${exit.signal ?? exit.code} by itself`)
    }
    await sleep(Math.max(0, fromMs + everyMs - performance.now()))
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { Seeded } from '../cross/seeded.ts'
import { type FaultKind, type FaultSettings, faultKinds, faults } from './chaos-faults.ts'

export interface ChaosSettings extends FaultSettings {
  /** From the beginning of a fault to that of the next: or until it is mended, where that takes longer. */
  readonly everyMs: number
  readonly count: number
}

/** Lets one fault after the other happen. What is chosen depends on the seed of `random` alone. Prints each. */
export async function runChaos(settings: ChaosSettings): Promise<void> {
  await runFaults(settings, plannedFaults(settings.random, settings.count))
}

/** The same with two at a time: one of a node while one of Postgres or S3 may be under way. */
export async function runOverlappingChaos(settings: ChaosSettings): Promise<void> {
  const { random, count } = settings
  const ofServices = faultKinds.filter((kind) => kind.startsWith('Postgres') || kind.startsWith('S3'))
  const ofNodes = faultKinds.filter((kind) => !ofServices.includes(kind))
  const lanes = [ofNodes, ofServices].map((kinds) => plannedFaults(random.fork(), Math.ceil(count / 2), kinds))
  await Promise.all(lanes.map((planned) => runFaults(settings, planned)))
}

async function runFaults(settings: ChaosSettings, plan: readonly PlannedFault[]): Promise<void> {
  const { cluster, everyMs } = settings
  const startedMs = performance.now()
  for (const [index, planned] of plan.entries()) {
    const fromMs = performance.now()
    const at = `${((fromMs - startedMs) / 1000).toFixed(1)} s, ${new Date().toISOString()}`
    const what = await faults[planned.kind]({ ...settings, random: planned.random })
    console.log(`${index + 1}. ${planned.kind} (${at}): ${what}`)
    for (const node of cluster.nodes) {
      const exit = node.endedByItself()
      if (exit !== undefined) throw new Error(`node ${node.nodeId} ended with ${exit.signal ?? exit.code} by itself`)
    }
    await sleep(Math.max(0, fromMs + everyMs - performance.now()))
  }
}

export interface PlannedFault {
  readonly kind: FaultKind
  readonly random: Seeded
}

/** So many, each with choices of its own: every kind once, in a random order, before any comes again. */
export function plannedFaults(random: Seeded, count: number, kinds: readonly FaultKind[] = faultKinds): PlannedFault[] {
  const planned: PlannedFault[] = []
  while (planned.length < count) {
    for (const kind of random.shuffled(kinds)) planned.push({ kind, random: random.fork() })
  }
  return planned.slice(0, count)
}

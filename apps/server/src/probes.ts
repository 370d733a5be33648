import type { Probe } from '@pico/http-api'
import type { Metadata } from '@pico/metadata'
import { ObjectMissingError, type ObjectStore } from '@pico/storage'

/** Of what is put only to see whether it can be. */
export const probePrefix = 'probe/'

/** Of a store where each request costs money. */
export const meteredProbeMs = 60_000

export interface ProbedStore {
  readonly name: string
  readonly store: ObjectStore
  readonly nodeId: number
  /** How long it is believed that a store which answers can be written to, too; 0 = it never is. */
  readonly writableForMs: number
}

/**
 * Writes a small object, reads it back, takes it away: a store that is full, gone or read-only shows. Where that was done a while ago,
 * and nothing has failed since, it only asks for the object, which is not there: one GET, whose answer tells that the store is there and
 * lets us in.
 */
export function storeProbe({ name, store, nodeId, writableForMs }: ProbedStore): Probe {
  const key = `${probePrefix}node-${nodeId}`
  let writableUntilMs = Number.NEGATIVE_INFINITY
  return {
    name,
    async run(signal) {
      const nowMs = performance.now()
      const untilMs = writableUntilMs
      writableUntilMs = Number.NEGATIVE_INFINITY // what fails now is tried in full the next time
      if (nowMs < untilMs) {
        await requireAnswer(store, key, signal)
        writableUntilMs = untilMs
        return
      }
      const content = Buffer.from(`${Date.now()}`)
      await store.put(key, [content], { signal })
      const found = await store.get(key, undefined, { signal })
      if (!content.equals(found)) throw new Error(`the store gave other bytes for ${key} than were put`)
      await store.delete([key], { signal })
      writableUntilMs = nowMs + writableForMs
    },
  }
}

async function requireAnswer(store: ObjectStore, key: string, signal: AbortSignal): Promise<void> {
  try {
    await store.get(key, { offset: 0, length: 1 }, { signal })
  } catch (error) {
    if (!(error instanceof ObjectMissingError)) throw error
  }
}

/** A transaction that may write, and changes nothing. */
export function metadataProbe(metadata: Metadata): Probe {
  return {
    name: 'metadata',
    async run() {
      await metadata.nodes.clusterId()
    },
  }
}

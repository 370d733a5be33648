import type { Probe } from '@pico/http-api'
import type { Metadata } from '@pico/metadata'
import type { ObjectStore } from '@pico/storage'

/** Of what is put only to see whether it can be. */
export const probePrefix = 'probe/'

/** Writes a small object, reads it back, takes it away: a store that is full, gone or read-only shows. */
export function storeProbe(name: string, store: ObjectStore, nodeId: number): Probe {
  const key = `${probePrefix}node-${nodeId}`
  return {
    name,
    async run(signal) {
      const content = Buffer.from(`${Date.now()}`)
      await store.put(key, [content], { signal })
      const found = await store.get(key, undefined, { signal })
      if (!content.equals(found)) throw new Error(`the store gave other bytes for ${key} than were put`)
      await store.delete([key], { signal })
    },
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

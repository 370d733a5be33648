import { systemClock } from '@pico/log'
import type { Metadata } from '@pico/metadata'
import { openSchemaRegistry, type SchemaRegistry, startSchemaWorkers } from '@pico/schema-registry'

/** Threads in which schemas are compiled and records judged, so that a hostile one of either does not hold up the others. */
const workers = { workers: 2, deadlineMs: 500, heapMb: 256 }

/** Its threads start when there is something for them to do. */
export function openSchemas({ schemas }: Metadata): SchemaRegistry {
  return openSchemaRegistry({
    catalog: schemas,
    startWorkers: () => startSchemaWorkers({ ...workers, workerUrl: workerUrl() }),
    nowMs: () => systemClock.nowMs(),
  })
}

/** Beside the bundle that this is a part of; where the sources are run, beside this file. */
function workerUrl(): URL {
  return new URL(import.meta.url.endsWith('.ts') ? './schema-worker.ts' : './schema-worker.js', import.meta.url)
}

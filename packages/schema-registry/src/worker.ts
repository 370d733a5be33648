import { parentPort, workerData } from 'node:worker_threads'
import { serveWork } from './workers/serve-work.ts'
import type { WorkerSettings } from './workers/work-messages.ts'

/** The entry of a worker thread that compiles schemas and holds records to them: what `SchemaWorkersSettings.workerUrl` leads to. */
if (parentPort === null) throw new Error('this module is the entry of a worker thread')
serveWork(parentPort, workerData as WorkerSettings)

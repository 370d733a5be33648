import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { serveWork } from './workers/serve-work.ts'
import type { WorkerSettings } from './workers/work-messages.ts'

/** The entry of a worker thread that compiles schemas and holds records to them: what `SchemaWorkersSettings.workerUrl` leads to. */
if (parentPort === null) throw new Error('this module is the entry of a worker thread')

// Whoever waits for a record to be judged can wait behind those who do not. setpriority(2) is for this thread on Linux alone; elsewhere
// it would be for the process.
if (process.platform === 'linux') setPriority(10)

serveWork(parentPort, workerData as WorkerSettings)

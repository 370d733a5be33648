import type { MessagePort } from 'node:worker_threads'
import { descriptorOfProto } from '../confluent/descriptor-of-proto.ts'
import { protoTextOfDescriptor } from '../confluent/proto-text-of-descriptor.ts'
import { createKinds } from '../kinds/all-kinds.ts'
import type { SchemaSource } from '../schema.ts'
import { judgeRecords, type KnownSchema } from './judge-records.ts'
import {
  type DoneWork,
  type FromWorker,
  type JudgeWork,
  Progress,
  type ToWorker,
  type Work,
  type WorkerSettings,
} from './work-messages.ts'

/** The inside of a worker thread: does what it is sent, and answers. It decides nothing about which work comes when, or how long it may take. */
export function serveWork(port: MessagePort, settings: WorkerSettings): void {
  const kinds = createKinds({ maxJsonValueBytes: settings.maxJsonValueBytes })
  const progress = new Progress(settings.progress)
  const schemas = new Map<number, KnownSchema>()
  const send = (message: FromWorker) => port.postMessage(message)

  function schemaOf({ schemaId, source, forget }: JudgeWork): KnownSchema {
    for (const forgotten of forget) schemas.delete(forgotten)
    if (source !== null) schemas.set(schemaId, compileKnown(schemaId, source))
    const schema = schemas.get(schemaId)
    if (schema === undefined) throw new Error(`schema ${schemaId} was never sent to this worker`)
    return schema
  }

  function compileKnown(schemaId: number, source: SchemaSource): KnownSchema {
    const compilation = kinds[source.kind].compile(source)
    if ('compiled' in compilation) return { kind: source.kind, compiled: compilation.compiled }
    const [problem] = compilation.problems
    throw new Error(`schema ${schemaId} does not compile: ${problem?.path} ${problem?.reason}`)
  }

  function doWork(work: Work, jobId: number): DoneWork[keyof DoneWork] {
    switch (work.kind) {
      case 'compile': {
        const compilation = kinds[work.source.kind].compile(work.source)
        if ('compiled' in compilation) return { problems: [], canonical: compilation.compiled.canonical }
        return { problems: compilation.problems, canonical: '' }
      }
      case 'incompatibilities':
        return kinds[work.reader.kind].incompatibilities(work.reader, work.writer)
      case 'descriptor':
        return descriptorOfProto(work.source)
      case 'protoText':
        return protoTextOfDescriptor(work.text)
      case 'judge': {
        const schema = schemaOf(work)
        progress.startedMs = busyMs()
        if (work.source !== null) send({ kind: 'judging', jobId })
        return judgeRecords(schema, work, progress)
      }
    }
  }

  port.on('message', ({ jobId, work }: ToWorker) => {
    progress.recordIndex = 0
    progress.startedMs = busyMs()
    try {
      const done = doWork(work, jobId)
      progress.doneJobId = jobId
      send({ kind: 'done', jobId, done, tookMs: busyMs() - progress.startedMs })
    } catch (error) {
      progress.doneJobId = jobId
      // Errors are cloned with their message and stack.
      send({ kind: 'failed', jobId, error })
    }
    // Whatever comes next has had none of it.
    progress.startedMs = busyMs()
  })
  send({ kind: 'ready' })
}

/** Processor time that this thread has had, so that a busy machine is not taken for slow records; time itself where Node does not tell. */
function busyMs(): number {
  const usage = process.threadCpuUsage?.()
  return usage === undefined ? performance.now() : (usage.user + usage.system) / 1000
}

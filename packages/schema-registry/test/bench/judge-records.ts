import { BatchBuilder } from '@pico/record-batch'
import { createKinds } from '../../src/kinds/all-kinds.ts'
import { startSchemaWorkers } from '../../src/workers/schema-workers.ts'
import { twentyFields } from './twenty-fields.ts'

/** Records a second of one worker, by kind: values alone, and batches of 64 KiB through the pool. Run with `--conditions=@pico/source`. */
const durationMs = 1000
const kinds = createKinds({ maxJsonValueBytes: 1 << 20 })
const workers = startSchemaWorkers({
  workers: 1,
  deadlineMs: 2000,
  heapMb: 128,
  workerUrl: new URL('../../src/worker.ts', import.meta.url),
})
for (const [index, { kind, text, value }] of twentyFields().entries()) {
  const source = { kind, text, references: [] }
  const compilation = kinds[kind].compile(source)
  if ('problems' in compilation) throw new Error(JSON.stringify(compilation.problems))
  const { compiled } = compilation
  const alone = await rate(1, () => {
    const problem = compiled.validate(value, [0])
    if (problem !== null) throw new Error(JSON.stringify(problem))
  })

  const builder = new BatchBuilder({ codec: 'none' })
  const count = Math.floor(65_536 / value.length)
  for (let i = 0; i < count; i++) builder.append({ timestamp: 0, key: null, value })
  const batch = builder.build()
  const schema = { schemaId: index + 1, source }
  const binding = { name: 'sample', version: 1, encoding: 'plain', tombstonesPass: false } as const
  const judge = async () => {
    const judged = await workers.judgeBatch(schema, binding, batch)
    if (judged.length > 0) throw new Error(JSON.stringify(judged))
  }
  const pooled = await rate(count, () => Promise.all([judge(), judge(), judge()]).then(() => {}), 3)
  const onePerBatch = await rate(1, async () => {
    await workers.judgeValues(schema, binding, [value])
  })
  console.log(
    `${kind.padEnd(8)} ${value.length} bytes: ${alone} values/s; batches of ${count}: ${pooled} records/s; single: ${onePerBatch} records/s`,
  )
}
await workers.close()

async function rate(perCall: number, call: () => void | Promise<void>, callsPerCall = 1): Promise<string> {
  for (let i = 0; i < 200; i++) await call()
  let best = 0
  for (let round = 0; round < 3; round++) {
    const startMs = performance.now()
    let calls = 0
    while (performance.now() - startMs < durationMs / 3) {
      // A promise for each value would be most of what is measured.
      for (let i = 0; i < 50; i++) {
        const result = call()
        if (result !== undefined) await result
      }
      calls += 50
    }
    best = Math.max(best, (calls * perCall * callsPerCall) / ((performance.now() - startMs) / 1000))
  }
  return Math.round(best).toLocaleString('en')
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../child-process.ts'
import { type PicoServer, startPico } from '../pico.ts'
import { createTopic, deleteTopic } from '../raw-topics.ts'
import { putSchema } from '../schemas/put-schema.ts'
import { type WideSchema, wideRecords, wideSchemas } from '../schemas/twenty-fields.ts'
import { javaTools } from '../toolchain.ts'
import { settleDisk } from './machine.ts'
import type { Row } from './report.ts'
import { type RoundSettings, rounds } from './rounds.ts'

/** About as many as go to a topic that is held to nothing in eight seconds. */
const records = 1_500_000
const differentRecords = 2000
const bytesPerMegabyte = 1024 * 1024
const producer = ['batch.size=65536', 'linger.ms=5', 'acks=all']

/** What holding records of twenty fields to their schema leaves of the throughput, with a producer that never pauses. */
export async function benchSchemas(settings: RoundSettings): Promise<Row[]> {
  const rows: Row[] = []
  const folder = mkdtempSync(join(tmpdir(), 'pico-bench-schemas-'))
  const server = await startPico()
  try {
    for (const schema of wideSchemas) {
      const name = `produce 20 fields, ${schema.kind}, batch 64 KiB, linger 5 ms`
      if (!settings.isWanted(name)) continue
      console.error(name)
      const file = join(folder, schema.kind)
      writeFileSync(
        file,
        wideRecords(differentRecords)
          .map((each) => schema.encode(each).toString('base64'))
          .join('\n'),
      )
      await putSchema(server.httpUrl, `wide.${schema.kind}`, schema.kind, schema.text)
      rows.push({
        name,
        unit: 'MB/s',
        values: await rounds(sides, settings, ({ isJudged }) =>
          measure(server, schema, isJudged, file, settings.scale),
        ),
        goals: [{ of: 'pico', atLeast: 0.4, times: 'pico-unjudged' }],
      })
    }
  } finally {
    await server.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return rows
}

const sides = [
  { name: 'pico', isJudged: true },
  { name: 'pico-unjudged', isJudged: false },
] as const

async function measure(
  { port, bootstrap }: PicoServer,
  { kind }: WideSchema,
  isJudged: boolean,
  file: string,
  scale: number,
): Promise<number> {
  const topic = `schemas-${kind}-${isJudged}-${Date.now()}`
  await createTopic(port, topic, { 'pico.schema': `wide.${kind}`, 'pico.schema.validate': String(isJudged) })
  await settleDisk()
  const { classpath } = await javaTools()
  const load = ['LoadValues', topic, file, String(Math.ceil(records * scale)), `bootstrap.servers=${bootstrap}`]
  const jvm = ['-Xms512m', '-Xmx512m', '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', classpath]
  const { stdout } = await run('java', [...jvm, ...load, ...producer], { timeoutMs: 300_000 })
  await deleteTopic(port, topic)
  const [, bytes, ms] = /^(\d+) bytes in (\d+) ms/m.exec(stdout.toString()) ?? []
  if (bytes === undefined || ms === undefined) throw new Error(`LoadValues printed ${stdout}`)
  return Number(bytes) / bytesPerMegabyte / (Number(ms) / 1000)
}

import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { walKinds } from '../pico.ts'
import { produceToSlowStore } from '../slow-store.ts'
import { benchCluster } from './cluster/cases.ts'
import { benchConsume } from './consume.ts'
import { type ContenderName, contenderNames, openContest } from './contenders.ts'
import { benchGroups } from './groups/cases.ts'
import { benchDurableStreams } from './http/durable-streams-cases.ts'
import { benchPicoAppends } from './http/pico-cases.ts'
import { benchIdle } from './idle.ts'
import { benchLatency } from './latency.ts'
import { benchLiveReaders } from './live-readers.ts'
import { machineFacts } from './machine.ts'
import { benchProduce } from './produce.ts'
import { meets, type Row, renderTable, type SideName } from './report.ts'
import type { RoundSettings } from './rounds.ts'
import { benchSchemas } from './schemas.ts'

const usage = `npm run bench -- [options]

Pico beside a real Apache Kafka on this machine, in one run, with Kafka's own load tools; and over HTTP, beside
npm's @durable-streams/server.

  --quick            an eighth of the data, one round: to see that it works, not to quote (also BENCH_QUICK=1)
  --rounds N         rounds, contenders taking turns (3)
  --brokers LIST     of ${contenderNames.join(', ')} (kafka,kafka-flush,pico)
  --only LIST        of produce, consume, latency, groups, idle, memory, http, live (all of these), cluster, schemas
  --case TEXT        only the cases whose name contains this
  --json FILE        every number of every round, too
  --check            exit with 1 when a goal is missed
`

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: process.env['BENCH_QUICK'] === '1' },
    rounds: { type: 'string' },
    brokers: { type: 'string', default: 'kafka,kafka-flush,pico' },
    only: { type: 'string', default: 'produce,consume,latency,groups,idle,memory,http,live' },
    case: { type: 'string', default: '' },
    json: { type: 'string' },
    check: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
if (options.help) {
  console.log(usage)
  process.exit(0)
}

const settings: RoundSettings = {
  rounds: Number(options.rounds ?? (options.quick ? 1 : 3)),
  scale: options.quick ? 1 / 8 : 1,
  isWanted: (caseName) => caseName.includes(options.case),
}
const names = options.brokers.split(',').map((name): ContenderName => {
  const found = contenderNames.find((each) => each === name)
  if (found === undefined) throw new Error(`--brokers: there is no "${name}"`)
  return found
})
const parts = new Set(options.only.split(','))

const ofKafka = ['produce', 'consume', 'latency', 'groups'].some((part) => parts.has(part))

const ofJava = ofKafka || ['idle', 'memory', 'schemas'].some((part) => parts.has(part))
const facts = await machineFacts({ java: ofJava })
for (const [name, value] of Object.entries(facts)) console.log(`${name}: ${value}`)
console.log(`rounds: ${settings.rounds}, share of the data: ${settings.scale}\n`)

const rows = await measure()
const httpRows = await measureHttp()
console.log(`\nmedian (least-most) of ${settings.rounds} rounds; load average now ${loadavg()[0]?.toFixed(2)}`)
const sides: SideName[] = [...names, 'pico-unjudged']
const measured = sides.filter((name) => rows.some(({ values }) => values[name] !== undefined))
if (rows.length > 0) console.log(`\n${renderTable(rows, measured)}`)
if (httpRows.length > 0) console.log(`\n${renderTable(httpRows, ['durable-streams', 'node-http', 'disk', 'pico'])}`)
if (options.json !== undefined) {
  writeFileSync(options.json, `${JSON.stringify({ facts, settings, rows, httpRows }, undefined, 2)}\n`)
}
if (rows.length + httpRows.length === 0) throw new Error('no case is of these parts and has such a name')
const missed = [...rows, ...httpRows].flatMap((row) => row.goals.filter((goal) => meets(row, goal) === false))
console.log(`\n${missed.length} goals missed`)
process.exit(options.check && missed.length > 0 ? 1 : 0)

async function measure(): Promise<Row[]> {
  const rows: Row[] = []
  const part = async (name: string, work: () => Promise<readonly Row[]>) => {
    if (!parts.has(name)) return
    console.error(name)
    rows.push(...(await work()))
  }
  if (ofKafka) {
    const contest = await openContest(names)
    try {
      await part('produce', () => benchProduce(contest.contenders, settings))
      await part('consume', () => benchConsume(contest.contenders, settings))
      await part('latency', () => benchLatency(contest.contenders, settings))
      await part('groups', () => benchGroups(contest.contenders, settings))
    } finally {
      await contest.close()
    }
  }
  if (names.includes('pico')) {
    await part('idle', () => benchIdle(settings))
    await part('memory', benchMemory)
    await part('cluster', () => benchCluster(settings))
    await part('schemas', () => benchSchemas(settings))
  }
  return rows
}

async function measureHttp(): Promise<Row[]> {
  const rows: Row[] = []
  if (parts.has('http')) {
    rows.push(...(await benchDurableStreams(settings)))
    rows.push(...(await benchPicoAppends(settings)))
  }
  if (parts.has('live')) rows.push(...(await benchLiveReaders(settings)))
  return rows
}

/** Once each: the number is a maximum over a minute already. */
async function benchMemory(): Promise<Row[]> {
  const rows: Row[] = []
  const seconds = 60 * settings.scale
  for (const wal of walKinds) {
    const name = `most memory in ${seconds} s of producing to a store of 5 MB/s, ${wal} WAL`
    if (!settings.isWanted(name)) continue
    const result = await produceToSlowStore(wal, seconds)
    if (result.breaches.length > 0) throw new Error(`records lost: ${result.breaches.slice(0, 5).join('; ')}`)
    const peak = result.peakRssBytes / (1024 * 1024)
    console.error(`  ${wal} WAL: ${peak.toFixed(0)} MB, ${result.acknowledgedRecords} records acknowledged, all there`)
    rows.push({
      name,
      unit: 'MB',
      values: { pico: [peak] },
      goals: [{ of: 'pico', atMost: 700 }],
    })
  }
  return rows
}

import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import type { CrossStream, Doors } from '../src/cross/cross-stream.ts'
import { faultsOf } from '../src/cross/judge.ts'
import { lineOf, readEverywhere } from '../src/cross/read-everywhere.ts'
import { Seeded, seedOfRun } from '../src/cross/seeded.ts'
import { serveDoors } from '../src/cross/serve-doors.ts'
import { createOverHttp, untilAnswered, writeOverDs, writeOverKafka, writeOverPico } from '../src/cross/writers.ts'
import { type PicoServer, packingFlags } from '../src/pico.ts'
import { createTopic } from '../src/raw-topics.ts'

/** How often the server is killed or stopped under the load of each case, and after how many acknowledged requests, about. */
const restarts = Number(process.env['E2E_CROSS_RESTARTS'] ?? 2)
const requestsBetweenRestarts = 100

let server: PicoServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

type Creator = 'kafka' | 'pico' | 'ds'

function streams(): (CrossStream & { createdBy: Creator })[] {
  const plan: [Creator, CrossStream['kind'], string, string | null][] = [
    // What Kafka makes has no content type of its own.
    ['kafka', 'binary', '/cross.kafka', 'cross.kafka'],
    ['pico', 'json', '/cross/pico', 'cross.pico'],
    ['ds', 'json', '/Cross/ds', 'Cross.ds'],
    ['ds', 'binary', '/cross/ds', 'cross.ds'],
    ['pico', 'text', '/cross/%C3%B1and%C3%BA', null],
  ]
  return plan.map(([createdBy, kind, path, topic]) => ({ createdBy, kind, path, topic, attempts: [] }))
}

describe.each(['local', 'shared'] as const)('appends over Kafka, Pico and Durable Streams, with a %s WAL', (wal) => {
  it(
    `are the same records over all three, through ${restarts} restarts`,
    async () => {
      const seed = seedOfRun()
      console.log(`E2E_CROSS_SEED=${seed}`)
      const random = new Seeded(seed)
      const served = await serveDoors({ wal, flags: packingFlags })
      server = served.server
      const { doors } = served
      const all = streams()
      let stopping = false
      const writing = all.map(async (stream, index) => {
        const [own, kafka, pico, ds] = [random.fork(), random.fork(), random.fork(), random.fork()]
        await sleep(own.whole(0, 1000))
        await create(doors, stream, own, `s${index}`)
        const to = (door: string, random: Seeded) => {
          return { stream, doors, random, name: `s${index}${door}`, stopping: () => stopping }
        }
        await Promise.all([
          writeOverKafka(to('k', kafka)),
          writeOverPico(to('p', pico)),
          writeOverDs(to('d', ds)),
          writeOverPico(to('q', pico.fork())),
        ])
      })
      const kept = () => all.flatMap(({ attempts }) => attempts).filter(({ outcome }) => outcome.kind === 'kept').length
      const restarting = (async () => {
        for (let left = restarts; left >= 0; left--) {
          const enough = kept() + random.whole(requestsBetweenRestarts / 2, requestsBetweenRestarts * 1.5)
          while (kept() < enough && !stopping) await sleep(5)
          if (left > 0) await server?.restart(random.one(['kill', 'kill', 'stop']))
        }
      })().finally(() => {
        stopping = true
      })
      for (const each of writing) each.catch(() => (stopping = true))
      await Promise.all([...writing, restarting])

      const before = new Map<CrossStream, string[]>()
      for (const stream of all) {
        const log = await readEverywhere(doors, stream, random)
        expect(faultsOf(log, stream.attempts), `${stream.path}, seed ${seed}`).toEqual([])
        before.set(stream, log.map(lineOf))
      }
      await server?.restart('kill')
      for (const stream of all) {
        const log = await readEverywhere(doors, stream, random)
        expect(log.map(lineOf), `${stream.path}, after a restart`).toEqual(before.get(stream))
      }
    },
    120_000 + restarts * 20_000,
  )
})

async function create(doors: Doors, stream: CrossStream & { createdBy: Creator }, random: Seeded, name: string) {
  if (stream.createdBy !== 'kafka' || stream.topic === null) {
    const url = stream.createdBy === 'pico' ? doors.picoUrl : doors.dsUrl
    await createOverHttp(url, stream, random, name)
    return
  }
  const { topic } = stream
  await untilAnswered(() => createTopic(doors.kafkaPort, topic).then(() => true))
}

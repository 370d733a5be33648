import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Broker, brokersUnderTest } from '../src/broker.ts'
import { connectorOffset, connectorStatus, putConnector } from '../src/connect/connectors.ts'
import { judgeLines, sourceLine } from '../src/connect/line-judge.ts'
import { type ConnectWorker, connectTopics, startConnectWorker } from '../src/connect/worker.ts'
import { partitionEnds } from '../src/groups/partition-values.ts'
import { endOffset, topicSettings } from '../src/raw-topics.ts'
import { connectTools, missing } from '../src/toolchain.ts'

/** How often a worker, and then the broker, is killed. */
const rounds = Number(process.env['E2E_CONNECT_ROUNDS'] ?? 1)
const linesPerWriting = 400
const patience = { timeout: 120_000, interval: 250 }
const picoFlags = [
  ...['--kafka-max-partitions', '4'],
  ...['--kafka-group-initial-rebalance-delay-ms', '0'],
  ...['--maintenance-interval-ms', '500'],
]
const topic = 'lines'

/** A kill makes the source read again, the sink write again, and what was read again be written again. */
const seamsPerKill = 4

/** Two distributed workers of Kafka Connect 4.4: a file goes line by line into a topic and from there into another file. */
describe.skipIf(await missing(connectTools)).each(brokersUnderTest(['pico-packing']))(
  'Connect on $name',
  ({ start }) => {
    const folder = mkdtempSync(join(tmpdir(), 'e2e-connect-'))
    const source = join(folder, 'source.txt')
    const sink = join(folder, 'sink.txt')
    let workers: readonly [ConnectWorker, ConnectWorker]
    let broker: Broker
    let written = 0
    let kills = 0
    beforeAll(async () => {
      broker = await start(picoFlags)
      writeFileSync(source, '')
      const worker = () => startConnectWorker(broker.bootstrap, folder)
      workers = await Promise.all([worker(), worker()])
    }, 600_000)
    beforeEach(({ onTestFailed }) => {
      onTestFailed(() => {
        for (const { process } of [broker, ...workers])
          console.log(`${process.name}:\n${process.output().slice(-4000)}`)
      })
    })
    afterAll(async () => {
      for (const { process } of workers ?? []) await process.kill()
      await broker?.close()
      rmSync(folder, { recursive: true, force: true })
    })

    /** Appends lines for some two seconds while something happens, and waits until they are in the sink. */
    async function write(meanwhile: () => Promise<unknown> = async () => undefined): Promise<void> {
      const append = async () => {
        for (const end = written + linesPerWriting; written < end; await sleep(50)) {
          const lines = Array.from({ length: 10 }, (_, index) => `${sourceLine(written + index + 1)}\n`)
          await appendFile(source, lines.join(''))
          written += lines.length
        }
      }
      await Promise.all([append(), meanwhile()])
      await expect.poll(() => judgeLines(sunk(), written).missing.length, patience).toBe(0)
    }

    function sunk(): string[] {
      return existsSync(sink) ? readFileSync(sink, 'utf8').split('\n').slice(0, -1) : []
    }

    /** The sink has all, nothing is on its way, and nothing is to be done again. */
    async function expectSettled(): Promise<void> {
      const [{ workerId }] = workers
      await expect
        .poll(() => connectorOffset(workerId, 'source'), patience)
        .toEqual({ position: statSync(source).size })
      const end = await endOffset(broker.port, topic)
      await expect.poll(() => connectorOffset(workerId, 'sink'), patience).toEqual({ kafka_offset: end })
    }

    async function expectRunning(): Promise<void> {
      for (const { workerId } of workers) {
        for (const name of ['source', 'sink']) {
          const states = async () => (await connectorStatus(workerId, name)).states
          await expect.poll(states, patience).toEqual(['RUNNING', 'RUNNING'])
        }
      }
    }

    /** The worker that has the task of a connector. */
    async function workerOf(name: string): Promise<ConnectWorker> {
      const { taskWorker } = await connectorStatus(workers[0].workerId, name)
      const worker = workers.find(({ workerId }) => workerId === taskWorker)
      if (worker === undefined) throw new Error(`nobody has the task of ${name}`)
      return worker
    }

    it('copies a file line by line while it grows', async () => {
      const only = { 'tasks.max': '1' }
      await putConnector(workers[0].workerId, 'source', {
        ...only,
        'connector.class': 'org.apache.kafka.connect.file.FileStreamSourceConnector',
        'topic.creation.default.partitions': '1',
        'topic.creation.default.replication.factor': '1',
        file: source,
        topic,
      })
      await putConnector(workers[1].workerId, 'sink', {
        ...only,
        'connector.class': 'org.apache.kafka.connect.file.FileStreamSinkConnector',
        file: sink,
        topics: topic,
      })
      await write()
      expect(readFileSync(sink, 'utf8')).toBe(readFileSync(source, 'utf8'))
      await expectRunning()
      await expectSettled()
    }, 600_000)

    it('has made its topics with the settings it wants', async () => {
      for (const { name, partitions } of Object.values(connectTopics)) {
        expect((await topicSettings(broker.port, name)).get('cleanup.policy'), name).toBe('compact')
        expect(await partitionEnds(broker.port, name, partitions)).toHaveLength(partitions)
        await expect(partitionEnds(broker.port, name, partitions + 1)).rejects.toThrow('UNKNOWN_TOPIC_OR_PARTITION')
      }
    })

    it(
      `has every line, in order, after ${rounds} kills of a worker and of the broker`,
      async () => {
        for (let round = 0; round < rounds; round++) {
          const victim = await workerOf(round % 2 === 0 ? 'source' : 'sink')
          await write(async () => {
            await sleep(1000)
            await victim.restart()
            kills++
          })
          await expectRunning()
          await write(async () => {
            await sleep(1000)
            await broker.restart('kill')
            kills++
          })
          await expectRunning()
          await expectSettled()
          const { faults, seams, torn } = judgeLines(sunk(), written)
          expect(faults).toEqual([])
          expect(seams).toBeLessThanOrEqual(kills * seamsPerKill)
          expect(torn).toBeLessThanOrEqual(kills)
        }
      },
      rounds * 900_000,
    )

    it('copies exactly what is appended afterwards, and ends with its last line', async () => {
      const [before, lines] = [written, sunk().length]
      await write()
      await expectSettled()
      const appended = Array.from({ length: written - before }, (_, index) => sourceLine(before + index + 1))
      expect(sunk().slice(lines)).toEqual(appended)
      for (const worker of workers) await worker.stop()
      expect(sunk().slice(lines)).toEqual(appended)
    }, 600_000)
  },
)

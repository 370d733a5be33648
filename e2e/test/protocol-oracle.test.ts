import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Broker } from '../src/broker.ts'
import { run } from '../src/child-process.ts'
import { startKafkaOracle } from '../src/kafka-oracle.ts'
import { admin } from '../src/oracle/admin.ts'
import { configs } from '../src/oracle/configs.ts'
import { fetching } from '../src/oracle/fetching.ts'
import { idempotence } from '../src/oracle/idempotence.ts'
import { lawfulDifferences } from '../src/oracle/lawful-differences.ts'
import { offsets } from '../src/oracle/offsets.ts'
import { produceRefusals } from '../src/oracle/produce-refusals.ts'
import { protocol } from '../src/oracle/protocol.ts'
import { answersOf } from '../src/oracle/session.ts'
import { topics } from '../src/oracle/topics.ts'
import { cliOf, startPico } from '../src/pico.ts'
import { javaTools, missing } from '../src/toolchain.ts'

const suites = { idempotence, produceRefusals, protocol, offsets, fetching, topics, configs, admin }
const met = new Set<unknown>()

describe.skipIf(await missing(javaTools))('pico answers as Apache Kafka 4.4', () => {
  let kafka: Broker
  let pico: Broker
  beforeAll(async () => {
    kafka = await startKafkaOracle()
    pico = await startPico()
  }, 120_000)
  afterAll(async () => {
    await pico?.close()
    await kafka?.close()
  })

  for (const [suite, scenarios] of Object.entries(suites)) {
    it.each(scenarios)(
      `${suite}: $name`,
      async (scenario) => {
        const topic = `${suite}-${scenarios.indexOf(scenario)}`
        const theirs = await answersOf(scenario, kafka, topic)
        const ours = await answersOf(scenario, pico, topic)
        expect([...ours.keys()], 'the same steps').toEqual([...theirs.keys()])
        for (const [step, answer] of theirs) compare(scenario.name, step, answer, ours.get(step))
      },
      120_000,
    )
  }

  it('pico bench loads either, as soon as its topics are there', async () => {
    const load = ['-d', '1', '--warmup', '0', '-n', '10', '--streams', '20', '--output', 'json']
    for (const { bootstrap } of [kafka, pico]) {
      const { stdout } = await run(process.execPath, [...cliOf(), 'bench', '--kafka', bootstrap, ...load])
      const { appends, reads } = JSON.parse(stdout.toString())
      expect(appends.records).toBeGreaterThan(0)
      expect(reads.records).toBeGreaterThanOrEqual(appends.records)
    }
  }, 120_000)

  it('every lawful difference is one that was met', () => {
    expect(lawfulDifferences.filter((each) => !met.has(each))).toEqual([])
  })
})

/** Every step is judged, so that one run shows all there is to see. */
function compare(scenario: string, step: string, theirs: unknown, ours: unknown): void {
  const lawful = lawfulDifferences.find(
    (each) => each.scenario === scenario && (typeof each.step === 'string' ? each.step === step : each.step.test(step)),
  )
  if (lawful === undefined) {
    expect.soft(ours, step).toEqual(theirs)
    return
  }
  met.add(lawful)
  expect.soft(theirs, `${step}: Kafka`).toEqual(lawful.kafka)
  expect.soft(ours, `${step}: pico`).toEqual(lawful.pico)
}

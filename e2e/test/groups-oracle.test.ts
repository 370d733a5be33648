import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Broker } from '../src/broker.ts'
import { startKafkaOracle } from '../src/kafka-oracle.ts'
import { groupDifferences } from '../src/oracle/group-differences.ts'
import { groupOffsets } from '../src/oracle/group-offsets.ts'
import { groups } from '../src/oracle/groups.ts'
import { type Scenario, Session } from '../src/oracle/session.ts'
import { startPico } from '../src/pico.ts'
import { javaTools, missing } from '../src/toolchain.ts'

const met = new Set<unknown>()

describe.skipIf(await missing(javaTools))('pico answers about groups as Apache Kafka 4.4', () => {
  let kafka: Broker
  let pico: Broker
  beforeAll(async () => {
    kafka = await startKafkaOracle()
    // As the Kafka of the comparison has it.
    pico = await startPico({ flags: ['--kafka-group-initial-rebalance-delay-ms', '0'] })
  }, 120_000)
  afterAll(async () => {
    await pico?.close()
    await kafka?.close()
  })

  for (const [suite, scenarios] of Object.entries({ groups, groupOffsets })) {
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

  it('every lawful difference is one that was met', () => {
    expect(groupDifferences.filter((each) => !met.has(each))).toEqual([])
  })
})

async function answersOf(scenario: Scenario, broker: Broker, topic: string): Promise<Map<string, unknown>> {
  const session = new Session(broker, topic)
  try {
    await scenario.run(session)
    return session.answers
  } finally {
    session.close()
  }
}

/** Every step is judged, so that one run shows all there is to see. */
function compare(scenario: string, step: string, theirs: unknown, ours: unknown): void {
  const lawful = groupDifferences.find(
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

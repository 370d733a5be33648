import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startKafkaOracle } from '../src/kafka-oracle.ts'
import { startPico } from '../src/pico.ts'
import { javaTools, missing } from '../src/toolchain.ts'
import { adminScript } from '../src/tools/admin-script.ts'
import { toolDifferences } from '../src/tools/tool-differences.ts'
import { runTools, type ToolResult } from '../src/tools/tool-script.ts'

const folder = mkdtempSync(join(tmpdir(), 'e2e-tools-'))
const deleteRecordsFile = join(folder, 'delete-records.json')
const script = adminScript(deleteRecordsFile)

/** One script of Kafka's own tools and an AdminClient program, against Kafka 4.4 and against us, compared step by step. */
describe.skipIf(await missing(javaTools))("Kafka's tools print the same of pico as of Apache Kafka 4.4", () => {
  let theirs: Map<string, ToolResult>
  let ours: Map<string, ToolResult>
  const met = new Set<unknown>()

  beforeAll(async () => {
    writeFileSync(
      deleteRecordsFile,
      JSON.stringify({ partitions: [{ topic: 'tools', partition: 0, offset: 7 }], version: 1 }),
    )
    const kafka = await startKafkaOracle()
    try {
      theirs = await runTools(kafka.bootstrap, script)
    } finally {
      await kafka.close()
    }
    const pico = await startPico({ flags: ['--kafka-group-initial-rebalance-delay-ms', '0'] })
    try {
      ours = await runTools(pico.bootstrap, script)
    } finally {
      await pico.close()
    }
  }, 600_000)
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(script.filter(({ name }) => name !== 'api versions'))('$name', ({ name }) => {
    const kafka = theirs.get(name)
    const pico = ours.get(name)
    expect(kafka).toBeDefined()
    expect(pico?.exitCode).toBe(kafka?.exitCode)
    const difference = toolDifferences.find(({ step }) => step === name)
    const only = (one: ToolResult | undefined, other: ToolResult | undefined) =>
      one?.lines.filter((line) => !other?.lines.includes(line))
    if (difference === undefined) {
      expect(pico?.lines).toEqual(kafka?.lines)
      return
    }
    met.add(difference)
    expect(only(kafka, pico)).toEqual(difference.kafka)
    expect(only(pico, kafka)).toEqual(difference.pico)
  })

  it('the client can use what we offer, and nothing that Kafka has not', () => {
    const versions = (result: ToolResult | undefined) =>
      new Map(result?.lines.map((line) => line.split(' ')).map(([name, version]) => [name, Number(version)]))
    const kafka = versions(theirs.get('api versions'))
    const pico = versions(ours.get('api versions'))
    expect(pico.size).toBeGreaterThan(25)
    for (const [name, version] of pico) expect(version, name).toBeLessThanOrEqual(kafka.get(name) ?? -1)
  })

  it('every difference is one that was met', () => {
    expect(toolDifferences.filter((each) => !met.has(each))).toEqual([])
  })
})

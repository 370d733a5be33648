import { type SchemaBinding, startSchemaWorkers } from '@pico/schema-registry'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type SuiteGroup, suiteGroups } from '../../packages/schema-registry/test/json-schema-suite.ts'
import { httpCall } from '../src/cross/http-call.ts'
import { type PicoServer, startPico } from '../src/pico.ts'
import { putSchema } from '../src/schemas/put-schema.ts'
import { jsonSchemaSuite, missing } from '../src/toolchain.ts'

/*
 * The required cases of the official JSON-Schema-Test-Suite, by the way that a user's records take: the schema is registered, a stream is
 * bound to it, each instance is appended. Those whose schemas refer to others of the suite, which are known by URI alone, go to the
 * workers that judge.
 */

const isMissing = await missing(jsonSchemaSuite)
const drafts = ['draft7', 'draft2020-12'] as const
const groupsOf = async (draft: (typeof drafts)[number]) => suiteGroups((await jsonSchemaSuite()).folder, draft)

let server: PicoServer
beforeAll(async () => {
  server = await startPico()
}, 60_000)
afterAll(() => server?.close())

describe.skipIf(isMissing).each(drafts)('the official suite, %s', (draft) => {
  it('is passed by what is appended over HTTP', async () => {
    const groups = (await groupsOf(draft)).filter(({ source }) => source.references.length === 0)
    let tests = 0
    const failures: string[] = []
    for (const [at, group] of groups.entries()) {
      const name = `${draft}-${at}`
      await putSchema(server.httpUrl, name, 'json', group.source.text)
      const made = await httpCall(server.httpUrl, {
        method: 'PUT',
        target: `/${name}`,
        headers: { 'Pico-Schema': name },
      })
      expect(made.status, group.name).toBe(201)
      for (const { description, data, valid } of group.tests) {
        const body = JSON.stringify(data)
        const { status } = await httpCall(server.httpUrl, { method: 'POST', target: `/${name}`, body })
        tests += 1
        if (status !== (valid ? 200 : 422)) failures.push(`${group.name}: ${description}: ${status}`)
      }
    }
    console.log(`${draft}: ${groups.length} schemas, ${tests} instances over HTTP`)
    expect(failures).toEqual([])
    expect(tests).toBeGreaterThan(800)
  }, 300_000)

  it('is passed by the workers where schemas refer to others', async () => {
    const workerUrl = new URL('../../packages/schema-registry/src/worker.ts', import.meta.url)
    const workers = startSchemaWorkers({ workers: 1, deadlineMs: 2000, heapMb: 256, workerUrl })
    const groups = (await groupsOf(draft)).filter(({ source }) => source.references.length > 0)
    const failures: string[] = []
    for (const [at, group] of groups.entries()) failures.push(...(await failuresOf(workers, group, at + 1)))
    await workers.close()
    console.log(`${draft}: ${groups.length} schemas that refer to others`)
    expect(failures).toEqual([])
    expect(groups.length).toBeGreaterThan(5)
  }, 120_000)
})

async function failuresOf(
  workers: ReturnType<typeof startSchemaWorkers>,
  { name, source, tests }: SuiteGroup,
  schemaId: number,
): Promise<string[]> {
  const binding: SchemaBinding = { name: 'suite', version: 1, encoding: 'plain', tombstonesPass: false }
  const values = tests.map(({ data }) => Buffer.from(JSON.stringify(data)))
  const problems = await workers.judgeValues({ schemaId, source }, binding, values)
  const bad = new Set(problems.map(({ index }) => index))
  return tests.flatMap(({ description, valid }, index) => (valid === bad.has(index) ? [`${name}: ${description}`] : []))
}

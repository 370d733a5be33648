import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../src/child-process.ts'
import { httpCall } from '../src/cross/http-call.ts'
import { readAllOverPico } from '../src/cross/pico-door.ts'
import { Seeded } from '../src/cross/seeded.ts'
import { type PicoServer, startPico } from '../src/pico.ts'
import { foreignAvro, foreignProtobuf } from '../src/schemas/foreign-schemas.ts'
import { truncated } from '../src/schemas/kinds.ts'
import { putSchema } from '../src/schemas/put-schema.ts'
import { missing, pythonTools } from '../src/toolchain.ts'

const program = join(dirname(fileURLToPath(import.meta.url)), '../python/foreign_values.py')
const count = 500
const isMissing = await missing(pythonTools)

let server: PicoServer
beforeAll(async () => {
  server = await startPico()
}, 60_000)
afterAll(() => server?.close())

describe.skipIf(isMissing).each([
  { kind: 'avro', by: 'fastavro', schema: foreignAvro },
  { kind: 'protobuf', by: 'protobuf', schema: foreignProtobuf },
] as const)('random values of every type in $kind, written by Python’s $by,', ({ kind, schema }) => {
  it('are as their schema wants them, and come back byte for byte; without their end they are not', async () => {
    const { python } = await pythonTools()
    const { stdout } = await run(python, [program, kind, `${count}`], { input: schema })
    const values = stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => Buffer.from(line, 'base64'))
    expect(values.length).toBe(count)

    await putSchema(server.httpUrl, kind, kind, schema)
    await httpCall(server.httpUrl, { method: 'PUT', target: `/${kind}`, headers: { 'Pico-Schema': kind } })
    const append = (records: readonly Buffer[]) =>
      httpCall(server.httpUrl, {
        method: 'POST',
        target: `/${kind}`,
        headers: { 'Content-Type': 'application/vnd.picomq.batch+json' },
        body: JSON.stringify({ records: records.map((value) => ({ body_b64: value.toString('base64') })) }),
      })
    const taken = await append(values)
    expect(taken.status, taken.body.toString().slice(0, 500)).toBe(200)
    const stored = await readAllOverPico(server.httpUrl, `/${kind}`, new Seeded(1))
    expect(stored.map(({ value }) => value?.toString('base64'))).toEqual(
      values.map((value) => value.toString('base64')),
    )

    // Avro ends where its schema says. What is left of a Protobuf message may be a whole one, if a field ended there.
    const cut = values.filter((value) => value.length > 2).map(truncated)
    const refused = await append(cut)
    expect(refused.status).toBe(422)
    const { problems } = JSON.parse(refused.body.toString()) as { problems: unknown[] }
    expect(problems.length / cut.length).toBeGreaterThan(kind === 'avro' ? 0.99 : 0.5)
  }, 60_000)
})

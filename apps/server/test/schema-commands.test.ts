import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { schemaListingSchema } from '@pico/http-contract'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { type RunningServer, serveDefaults, serverConfig, startServer } from '../src/index.ts'
import { runPico } from './run-pico.ts'

const folder = mkdtempSync(join(tmpdir(), 'pico-schema-'))
const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const object = (properties: object) =>
  JSON.stringify({ type: 'object', properties, required: ['id'], additionalProperties: false })
const order = file('order.json', object({ id: { type: 'integer' } }))
const wider = file('wider.json', object({ id: { type: 'integer' }, note: { type: 'string' } }))
const other = file('other.json', object({ id: { type: 'string' }, note: { type: 'integer' } }))

let server: RunningServer
beforeAll(async () => {
  const config = serverConfig({
    ...serveDefaults(),
    listen: '127.0.0.1:0',
    'kafka-listen': '127.0.0.1:0',
    'admin-listen': '127.0.0.1:0',
    'schema-registry-listen': '127.0.0.1:0',
    'meta-url': 'sqlite::memory:',
    storage: `-2@file://${join(folder, 'objects')}`,
  })
  server = await startServer(config, { log: pino({ level: 'silent' }) })
}, 60_000)
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  const listing = await fetch(`${httpUrl()}/_schemas?deleted=true`)
  const { schemas } = schemaListingSchema.parse(await listing.json())
  for (const { name } of schemas) await fetch(`${httpUrl()}/_schemas/${name}?permanent=true`, { method: 'DELETE' })
})
afterEach(() => {
  vi.restoreAllMocks()
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error') // a command is a process of its own
})

const httpUrl = () => `http://127.0.0.1:${server.http?.port}`

/** Runs `pico schema …` to its end. */
const schema = (...words: string[]) => runPico(['schema', ...words, '--endpoint', httpUrl()])

describe('pico schema', () => {
  it('put registers a file and says which version that is, the same again for the same', async () => {
    const first = await schema('put', 'orders', order)
    expect([first.exitCode, first.stdout]).toEqual([0, expect.stringMatching(/^orders:\d+\n$/)])
    expect((await schema('put', 'orders', order)).stdout).toBe(first.stdout)
    const put = await schema('put', 'orders', wider, '--compatibility', 'full-transitive', '--json')
    expect([put.exitCode, put.stdout]).toEqual([1, expect.stringContaining('"error":"incompatible"')])
    const loosely = await schema('put', 'orders', wider, '--compatibility', 'backward-transitive', '--json')
    expect(JSON.parse(loosely.stdout)).toMatchObject({
      name: 'orders',
      kind: 'json',
      compatibility: 'backward-transitive',
    })
  })

  it('put says every reason why not, and ends with 1', async () => {
    await schema('put', 'orders', wider)
    const { exitCode, stdout, stderr } = await schema('put', 'orders', other)
    expect([exitCode, stdout]).toEqual([1, ''])
    const lines = stderr.trim().split('\n')
    expect(lines.slice(0, -1)).toEqual([
      expect.stringMatching(/^version \d+: \/properties\/\w+.*: /),
      expect.stringMatching(/^version \d+: \/properties\/\w+.*: /),
    ])
    expect(lines.at(-1)).toMatch(/^pico: PUT .*it must not follow what orders has \(backward\).*\(and 1 more\)$/)
  })

  it('takes the kind from the name of the file, or as it is told', async () => {
    const avro = file('order.avsc', '{"type":"record","name":"Order","fields":[]}')
    const proto = file('order.proto', 'syntax = "proto3"; message Order { int32 id = 1; }')
    for (const [path, kind] of [
      [avro, 'avro'],
      [proto, 'protobuf'],
      [order, 'json'],
    ] as const) {
      const put = await schema('put', `of-${kind}`, path, '--json')
      expect(JSON.parse(put.stdout)).toMatchObject({ kind })
    }
    const text = file('order.txt', '"string"')
    expect((await schema('put', 'x', text, '--kind', 'avro')).exitCode).toBe(0)
    const unknown = await schema('put', 'x', text)
    expect([unknown.exitCode, unknown.stderr]).toEqual([2, 'pico: --kind is needed: one of json, avro, protobuf\n'])
  })

  it('put takes what a schema imports', async () => {
    const money = file('money.proto', 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }')
    const price = file(
      'price.proto',
      'syntax = "proto3"; package shop; import "money.proto"; message Price { Money money = 1; }',
    )
    const { stdout } = await schema('put', 'money', money)
    const reference = `money.proto=${stdout.trim()}`
    const put = await schema('put', 'price', price, '--reference', reference, '--json')
    expect(JSON.parse(put.stdout).references).toMatchObject([{ import_name: 'money.proto', name: 'money' }])
    const removed = await schema('rm', 'money')
    expect([removed.exitCode, removed.stderr]).toEqual([1, expect.stringMatching(/^pico: .*imported by price:\d+\n$/)])
    await schema('rm', 'price', '--permanent')
  })

  it('get prints a version, or what is known of it', async () => {
    const first = (await schema('put', 'orders', order)).stdout.trim()
    await schema('put', 'orders', wider)
    expect(JSON.parse((await schema('get', 'orders')).stdout)).toHaveProperty('properties.note')
    expect(JSON.parse((await schema('get', first)).stdout)).not.toHaveProperty('properties.note')
    expect(JSON.parse((await schema('get', first, '--json')).stdout)).toMatchObject({ name: 'orders', kind: 'json' })
    const missing = await schema('get', 'none')
    expect([missing.exitCode, missing.stderr]).toEqual([1, expect.stringContaining('there is no schema none')])
  })

  it('ls lists names under a prefix, and versions of a name', async () => {
    for (const name of ['b', 'ab', 'a']) await schema('put', name, order)
    await schema('put', 'a', wider)
    const names = async (...words: string[]) =>
      (await schema('ls', ...words)).stdout
        .trim()
        .split('\n')
        .map((line) => line.replace(/:\d+ .*/, ''))
    expect(await names()).toEqual(['a', 'ab', 'b'])
    expect(await names('a')).toEqual(['a', 'ab'])
    expect(await names('a:')).toEqual(['a', 'a'])
    const { stdout } = await schema('ls', 'b', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ name: 'b', kind: 'json' })
  })

  it('rm takes a version, or all, but none that a topic is bound to', async () => {
    const first = (await schema('put', 'orders', order)).stdout.trim()
    await schema('put', 'orders', wider)
    expect((await schema('rm', first)).exitCode).toBe(0)
    expect((await schema('get', first)).exitCode).toBe(1)
    expect((await schema('get', first, '--deleted')).exitCode).toBe(0)
    await fetch(`${httpUrl()}/sales`, { method: 'PUT', headers: { 'pico-schema': 'orders' } })
    const bound = await schema('rm', 'orders')
    expect([bound.exitCode, bound.stderr]).toEqual([1, expect.stringContaining('is bound to sales')])
    await fetch(`${httpUrl()}/sales`, { method: 'DELETE' })
    expect((await schema('rm', 'orders', '--permanent')).exitCode).toBe(0)
    expect((await schema('ls', '--deleted')).stdout).toBe('')
  })

  it('check says whether a schema may follow, and ends with 1 if not', async () => {
    const first = (await schema('put', 'orders', order)).stdout.trim()
    expect(await schema('check', 'orders', wider)).toMatchObject({ exitCode: 0, stdout: '' })
    const no = await schema('check', first, other)
    expect(no).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/must not follow what orders:\d+ has/) })
    expect(no.stdout).toMatch(/^version \d+: \/properties\/id/)
    const json = await schema('check', 'orders', other, '--json')
    expect([json.exitCode, JSON.parse(json.stdout).compatible]).toEqual([1, false])
  })

  it.each([
    [['putt', 'orders'], /one of put, check, get, ls, rm is needed/],
    [['put'], /usage: pico schema put <name>/],
    [['get', 'orders:x'], /orders:x is neither <name> nor <name>:<version>/],
    [['put', 'orders', order, '--kind', 'xml'], /--kind xml: one of json, avro, protobuf is needed/],
    [['put', 'orders', order, '--compatibility', 'strict'], /--compatibility strict: one of none, backward/],
    [['put', 'orders', order, '--refrence', 'x'], /unknown flag --refrence; did you mean --reference\?/],
  ])('%j is not understood', async (words, problem) => {
    const { exitCode, stderr } = await schema(...words)
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(problem)])
  })

  it('says that a file cannot be read', async () => {
    const { exitCode, stderr } = await schema('put', 'orders', join(folder, 'none.json'))
    expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/^pico: cannot read .*none\.json: ENOENT/)])
  })
})

it("the same schemas are served in Confluent's protocol", async () => {
  await schema('put', 'orders', order)
  const registry = `http://127.0.0.1:${server.schemaRegistry?.port}`
  expect(await (await fetch(`${registry}/subjects`)).json()).toEqual(['orders'])
})

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePorts } from '../src/child-process.ts'
import { Cli, type CliExit, type CliSettings, cli } from '../src/http/cli.ts'
import { type PicoServer, startPico } from '../src/pico.ts'

let server: PicoServer
let durableUrl: string

beforeAll(async () => {
  const [port] = (await freePorts(1)) as [number]
  durableUrl = `http://127.0.0.1:${port}`
  server = await startPico({ flags: ['--ds-listen', `127.0.0.1:${port}`] })
})

afterAll(async () => {
  const { forced } = await server.close()
  expect(forced).toBe(false)
})

/** With its exit code, and nothing but that on what it does not use. */
async function pico(args: readonly string[], settings: CliSettings = {}): Promise<CliExit> {
  return cli(args, { ...settings, env: { PICO_ENDPOINT: server.httpUrl, ...settings.env } })
}

/** It did what it was told, and said nothing beside its data. */
async function data(args: readonly string[], settings: CliSettings = {}): Promise<string> {
  const { code, stdout, stderr } = await pico(args, settings)
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
  return stdout.toString()
}

async function problem(args: readonly string[], settings: CliSettings = {}): Promise<[number | null, string]> {
  const { code, stdout, stderr } = await pico(args, settings)
  expect({ args, stdout: stdout.toString() }).toEqual({ args, stdout: '' })
  expect(stderr.trimEnd().split('\n'), `one line, not: ${stderr}`).toHaveLength(1)
  return [code, stderr.trimEnd()]
}

const numbers = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}\n`).join('')

// A test runs the command up to twenty times, which takes a while where others work too.
describe('pico', { timeout: 240_000 }, () => {
  test('registers schemas from the standard input, and from what get printed', async () => {
    const schema = '{"type":"object","properties":{"id":{"type":"integer"}}}\n'
    expect(await data(['schema', 'put', 'cli.orders', '--kind', 'json'], { input: schema })).toBe('cli.orders:1\n')
    const printed = await data(['schema', 'get', 'cli.orders'])
    expect(printed).toBe(schema)
    expect(await data(['schema', 'put', 'cli.orders', '-', '--kind', 'json'], { input: printed })).toBe(
      'cli.orders:1\n',
    )
    expect(await data(['schema', 'check', 'cli.orders', '--kind', 'json'], { input: printed })).toBe('')
    const other = '{"type":"object","properties":{"id":{"type":"string"}}}'
    const [code, line] = await problem(['schema', 'put', 'cli.orders', '--kind', 'json'], { input: other })
    expect([code, line]).toEqual([1, expect.stringMatching(/^pico: PUT .*must not follow what cli\.orders has/)])
    expect(await problem(['schema', 'put', 'cli.orders'], { input: schema })).toEqual([
      2,
      'pico: --kind is needed: one of json, avro, protobuf',
    ])
    expect(await data(['schema', 'rm', 'cli.orders', '--permanent'])).toBe('')
  })

  test('creates, appends, reads, tails, trims, closes, lists and deletes; silent where nobody looks', async () => {
    expect(await data(['create', 'cli/orders', '--content-type', 'text/plain', '--ttl', '3600'])).toBe('')
    expect(JSON.parse(await data(['create', 'cli/orders', '--content-type', 'text/plain', '--json']))).toEqual({
      name: '/cli/orders',
      created: false,
    })
    expect(await data(['append', 'cli/orders'], { input: 'a\n\nb\r\nlast' })).toBe('')
    expect(await data(['read', 'cli/orders'])).toBe('a\n\nb\r\nlast\n')
    expect(await data(['read', 'cli/orders', '--format', 'raw', '--from', '2'])).toBe('b\rlast')
    expect(await data(['read', 'cli/orders', '--count', '1'])).toBe('a\n')
    expect(JSON.parse(await data(['append', 'cli/orders', 'one', 'two', '--json']))).toEqual({
      ...{ records: 2, bytes: 6, first: 4, last: 5 },
    })
    expect(await data(['tail', 'cli/orders', '-n', '2'])).toBe('one\ntwo\n')
    expect(JSON.parse(await data(['trim', 'cli/orders', '4', '--json']))).toEqual({ name: '/cli/orders', start_seq: 4 })
    expect(await data(['read', 'cli/orders'])).toBe('one\ntwo\n')
    expect(JSON.parse(await data(['close', 'cli/orders', '--json']))).toMatchObject({ next_seq: 6 })
    expect(JSON.parse(await data(['head', 'cli/orders', '--json']))).toEqual({
      ...{ name: '/cli/orders', content_type: 'text/plain', start_seq: 4, next_seq: 6, closed: true, ttl: 3600 },
    })
    expect(await data(['head', 'cli/orders'])).toMatch(/^name {10}\/cli\/orders\ncontent type {2}text\/plain\n/)
    await data(['create', 'cli/other'])
    expect(await data(['ls', 'cli/'])).toBe('/cli/orders\n/cli/other\n')
    const listed = (await data(['ls', '/cli', '--json'])).trimEnd().split('\n')
    expect(listed.map((line) => JSON.parse(line))).toMatchObject([{ next_seq: 6, closed: true }, { next_seq: 0 }])
    expect(await data(['ls', 'cli', '--long'])).toMatch(/closed text\/plain +\/cli\/orders\n/)
    expect(await data(['delete', 'cli/orders', 'cli/other'])).toBe('')
    expect(await data(['ls', 'cli/'])).toBe('')
  })

  test('says in one line what it was not told right, and exits 2', async () => {
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['append'], /^pico: /],
      [['append', 'x', '--batch', '0'], /^pico: --batch 0 is not a whole number of at least 1$/],
      [['append', 'x', '--batch', 'many'], /^pico: --batch many is not a whole number/],
      [['append', 'x', '--input', 'xml'], /^pico: --input xml: one of lines, json, whole is needed$/],
      [['read', 'x', '--from', '-1'], /^pico: --from -1 is not a whole number/],
      [['read', 'x', '--fromm', '1'], /^pico: unknown flag --fromm; did you mean --from\?$/],
      [['read', 'x', '--endpoint', 'nowhere'], /^pico: --endpoint nowhere is not an http: or https: URL$/],
      [['read', 'x', '--protocol', 'http'], /^pico: --protocol http: one of pico, ds is needed$/],
      [['read', 'x', '--profile', 'none'], /^pico: --profile none: there is none of that name/],
      [['trim', 'x', 'all'], /^pico: seq all is not a whole number/],
      [['ls', '--protocol', 'ds'], /^pico: ls: Durable Streams have no such request/],
      [
        ['create', 'x', '--ttl', '1', '--expires-at', '2100-01-01T00:00:00Z'],
        /^pico: --ttl and --expires-at do not go together$/,
      ],
      [['create', 'x', '--expires-at', 'tomorrow'], /^pico: --expires-at tomorrow is no time/],
      [['config', 'set', 'colour', 'red'], /^pico: a profile has no colour/],
      [['config', 'fetch'], /^pico: config fetch: one of /],
    ]
    const outcomes = []
    for (const [args] of cases) outcomes.push(await problem(args))
    for (const [index, [args, line]] of cases.entries()) {
      expect(outcomes[index]?.[1], args.join(' ')).toMatch(line)
      expect(outcomes[index]?.[0], args.join(' ')).toBe(2)
    }
    expect(await problem(['append', 'x'], { env: { PICO_BATCH: 'none' } })).toEqual([
      ...[2, 'pico: --batch none is not a whole number of at least 1'],
    ])
  })

  test('says in one line what went wrong, and exits 1', async () => {
    expect(await problem(['read', 'missing'])).toEqual([1, expect.stringMatching(/there is no such stream$/)])
    expect(await problem(['head', 'missing'])).toEqual([1, expect.stringMatching(/there is no such stream$/)])
    expect(await problem(['append', 'missing'], { input: 'a\n' })).toEqual([
      1,
      expect.stringMatching(/no such stream$/),
    ])
    expect(await problem(['append', '_sys/x', 'a'])).toEqual([1, expect.stringMatching(/^pico: /)])
    expect(await problem(['read', 'a//b'])).toEqual([1, expect.stringMatching(/a stream name has no empty segment$/)])
    const refused = await problem(['head', 'x', '--endpoint', 'http://127.0.0.1:1', '--retry-sec', '0'])
    expect(refused).toEqual([1, expect.stringMatching(/no connection \(ECONNREFUSED\); is a server running there\?$/)])
    await data(['create', 'typed', '--content-type', 'text/plain'])
    expect(await problem(['create', 'typed', '--content-type', 'text/html'])).toEqual([
      1,
      expect.stringMatching(/^pico: PUT \/typed: /),
    ])
    await data(['create', 'bad-json'])
    const line = await problem(['append', 'bad-json', '--input', 'json'], { input: '{"body":"a"}\n{"body":1}\n' })
    expect(line).toEqual([1, expect.stringMatching(/^pico: line 2 of the input: body: /)])
  })

  test.each([[[]], [['--http2']]])('carries 100,000 lines there and back %j', async (flags) => {
    const name = `many${flags.join('')}`
    const input = numbers(100_000)
    await data(['create', name, ...flags])
    const appended = JSON.parse(await data(['append', name, '--json', ...flags], { input }))
    expect(appended).toEqual({ records: 100_000, bytes: input.length - 100_000, first: 0, last: 99_999 })
    expect((await data(['read', name, ...flags])) === input).toBe(true)
  })

  test('takes an input of any size in bounded memory', async () => {
    await data(['create', 'large'])
    const line = Buffer.from(`${'x'.repeat(1023)}\n`)
    const chunk = Buffer.concat(Array.from({ length: 256 }, () => line))
    let peakKiB = 0
    async function* input(): AsyncGenerator<Uint8Array> {
      for (let n = 0; n < 2400; n++) {
        yield chunk
        if (n % 20 === 0) peakKiB = Math.max(peakKiB, residentPeakKiB(appending.pid))
      }
    }
    const appending = new Cli(['append', 'large', '--json'], { env: { PICO_ENDPOINT: server.httpUrl }, input: input() })
    const { code, stdout, stderr } = await appending.ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout.toString())).toMatchObject({ records: 614_400, last: 614_399 })
    expect(peakKiB).toBeGreaterThan(10_000)
    // One record alone takes 120,000; the rest is what is under way, and bodies of requests that are not collected yet.
    expect(peakKiB, 'KiB resident at most, of 600 MiB carried').toBeLessThan(300_000)
  })

  test('copies a stream as it is through its JSON: keys, headers, bytes, tombstones', async () => {
    await data(['create', 'copy/from'])
    await data(['create', 'copy/to'])
    const input = [
      '{"body":"plain"}',
      '{"body":null,"key":"gone"}',
      '{"body_b64":"AP8=","key_b64":"/w==","headers":[["h","1"],["h",{"b64":"/w=="}],["n",null]]}',
      '{"body":"ä","headers":{"a":"b"}}',
    ]
    await data(['append', 'copy/from', '--input', 'json'], { input: input.join('\n') })
    const printed = await data(['read', 'copy/from', '--json'])
    const records = printed
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(records.map(({ seq, timestamp, ...content }) => content)).toEqual(input.map((line) => JSON.parse(line)))
    await data(['append', 'copy/to', '--input', 'json', '--batch', '2'], { input: printed })
    expect(await data(['read', 'copy/to', '--json'])).toBe(printed)
  })

  test('appends all of an input as one record', async () => {
    await data(['create', 'whole'])
    await data(['append', 'whole', '--input', 'whole'], { input: 'a\nb\n' })
    expect(JSON.parse(await data(['read', 'whole', '--json']))).toMatchObject({ seq: 0, body: 'a\nb\n' })
  })

  test('ends quietly when nobody reads what it prints', async () => {
    await data(['create', 'piped'])
    await data(['append', 'piped'], { input: numbers(100_000) })
    for (const args of [
      ['read', 'piped'],
      ['read', 'piped', '--json'],
      ['tail', 'piped', '-f', '-n', '100000'],
    ]) {
      const reading = new Cli(args, { env: { PICO_ENDPOINT: server.httpUrl } })
      while (reading.stdout === '') await sleep(5)
      reading.stopReading()
      const { code, signal, stderr } = await reading.ended
      expect({ args, code, signal, stderr }).toEqual({ args, code: 0, signal: null, stderr: '' })
    }
  })

  test.each(['long-poll', 'sse'])(
    'follows by %s across a server that is killed and comes back, each line once',
    async (live) => {
      const name = `killed/${live}`
      const env = { PICO_ENDPOINT: server.httpUrl }
      await data(['create', name])
      const following = new Cli(['tail', name, '-f', '-n', '1000000', '--live', live], { env })
      let lines = 0
      let isEnough = false
      async function* input(): AsyncGenerator<Uint8Array> {
        while (!isEnough) {
          yield Buffer.from(Array.from({ length: 50 }, (_, n) => `${lines + n}\n`).join(''))
          lines += 50
          await sleep(10)
        }
      }
      const appending = new Cli(['append', name, '--json'], { env, input: input() })
      for (let kills = 0; kills < 3; kills++) {
        const seen = following.stdout.length
        while (following.stdout.length === seen) await sleep(10)
        if (kills < 2) await server.restart('kill')
      }
      isEnough = true
      const { code, stdout, stderr } = await appending.ended
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(JSON.parse(stdout.toString())).toMatchObject({ records: lines, first: 0, last: lines - 1 })
      await data(['close', name])
      const followed = await following.ended
      expect({ code: followed.code, stderr: followed.stderr }).toEqual({ code: 0, stderr: '' })
      const expected = Array.from({ length: lines }, (_, n) => `${n}\n`).join('')
      expect(followed.stdout.toString() === expected).toBe(true)
      expect((await data(['read', name])) === expected).toBe(true)
    },
  )

  test('ends by a signal: following well, appending not', async () => {
    await data(['create', 'signals'])
    await data(['append', 'signals', 'a'])
    const env = { PICO_ENDPOINT: server.httpUrl }
    const following = new Cli(['tail', 'signals', '-f'], { env })
    while (following.stdout === '') await sleep(5)
    following.signal('SIGINT')
    expect(await following.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        yield Buffer.from('b\n')
        await sleep(20)
      }
    }
    const appending = new Cli(['append', 'signals'], { env, input: endless() })
    while ((await data(['tail', 'signals', '-n', '1'])) === 'a\n') await sleep(20)
    appending.signal('SIGTERM')
    expect(await appending.ended).toMatchObject({ code: 1, signal: null, stderr: '' })
  })

  test('speaks Durable Streams: bytes, JSON messages, what comes', async () => {
    const env = { PICO_ENDPOINT: durableUrl, PICO_PROTOCOL: 'ds' }
    await data(['create', 'ds/text', '--content-type', 'text/plain'], { env })
    await data(['append', 'ds/text'], { env, input: numbers(1000) })
    expect(await data(['read', 'ds/text'], { env })).toBe(numbers(1000))
    await data(['create', 'ds/json', '--content-type', 'application/json'], { env })
    const following = new Cli(['tail', 'ds/json', '-f'], { env })
    await data(['append', 'ds/json'], { env, input: '{"a":1}\n[1,2]\n' })
    expect(await data(['read', 'ds/json'], { env })).toBe('{"a":1}\n[1,2]\n')
    const offset = JSON.parse(await data(['head', 'ds/json', '--json'], { env })).next_offset
    await data(['append', 'ds/json', '3'], { env })
    expect(await data(['read', 'ds/json', '--from', offset], { env })).toBe('3\n')
    await data(['close', 'ds/json'], { env })
    expect((await following.ended).code).toBe(0)
    expect(JSON.parse(await data(['close', 'ds/json', '--json'], { env }))).toMatchObject({ name: 'ds/json' })
    await data(['delete', 'ds/json', 'ds/text'], { env })
    expect(await problem(['head', 'ds/text'], { env })).toEqual([1, expect.stringMatching(/no such stream/)])
  })

  test.each(['HTTP', 'Kafka'])('measures appends and reads over %s, and leaves nothing behind', async (protocol) => {
    const load = ['-d', '2', '--warmup', '1', '-w', '8', '-n', '5', '--streams', '3', '-b', '100']
    if (protocol === 'Kafka') load.push('--kafka', server.bootstrap)
    const figures = JSON.parse(await data(['bench', ...load, '--output', 'json']))
    expect(figures).toMatchObject({ recordBytes: 100, inFlight: 8, recordsPerRequest: 5, streams: 3 })
    const { appends, reads } = figures
    expect(appends.records).toBe(appends.requests * 5)
    expect(appends.bytes).toBe(appends.records * 100)
    expect(appends.latencyMs.p50).toBeGreaterThan(0)
    expect(appends.latencyMs.p999).toBeGreaterThanOrEqual(appends.latencyMs.p50)
    expect(reads.records).toBeGreaterThanOrEqual(appends.records) // those of the warmup too
    expect(reads.bytes).toBe(reads.records * 100)
    const lines = (await data(['bench', ...load, '--no-read'])).trimEnd().split('\n')
    expect(lines.map((line) => line.trim().slice(0, 8))).toEqual([
      'warmup  ',
      expect.stringMatching(/^1 s/),
      expect.stringMatching(/^2 s/),
      'appended',
    ])
    expect(await data(['ls', 'bench'])).toBe('')
  })

  test('says in a line why a bench over Kafka has no figures', async () => {
    expect(await problem(['bench', '--kafka', '127.0.0.1'])).toEqual([2, 'pico: --kafka: "127.0.0.1" is not host:port'])
    const nobody = await problem(['bench', '--kafka', '127.0.0.1:1'])
    expect(nobody).toEqual([1, expect.stringMatching(/^pico: no broker can be reached at 127\.0\.0\.1:1: /)])
    const { host } = new URL(server.httpUrl)
    const foreign = await problem(['bench', '--kafka', host])
    expect(foreign).toEqual([1, expect.stringMatching(/^pico: the broker at .* does not speak the Kafka protocol: /)])
    const large = ['bench', '--kafka', server.bootstrap, '-b', '3MiB', '-d', '1']
    expect(await problem(large)).toEqual([1, expect.stringMatching(/^pico: an append failed: .*MESSAGE_TOO_LARGE$/)])
  })

  test('keeps settings under names, for the user alone', async () => {
    const home = mkdtempSync(join(tmpdir(), 'pico-config-'))
    try {
      const env = { XDG_CONFIG_HOME: home, PICO_ENDPOINT: '' }
      const run = (...args: string[]) => cli(args, { env: { XDG_CONFIG_HOME: home } })
      const path = join(home, 'pico', 'config.json')
      expect((await run('config', 'path')).stdout.toString()).toBe(`${path}\n`)
      expect((await run('config', 'set', 'endpoint', server.httpUrl)).code).toBe(0)
      expect((await run('config', 'set', 'token', 'secret')).code).toBe(0)
      expect(statSync(path).mode & 0o777).toBe(0o600)
      expect((await run('config', 'set', 'endpoint', durableUrl, '--profile', 'ds')).code).toBe(0)
      expect((await run('config', 'set', 'protocol', 'ds', '--profile', 'ds')).code).toBe(0)
      expect((await run('config', 'ls')).stdout.toString()).toBe(
        `* default  endpoint=${server.httpUrl} token=(set)\n  ds  endpoint=${durableUrl} protocol=ds\n`,
      )
      expect((await run('create', 'by-profile', '--json')).code).toBe(0)
      const head = await run('head', 'by-profile', '--json', '--profile', 'ds')
      expect(JSON.parse(head.stdout.toString())).toHaveProperty('next_offset')
      expect((await run('config', 'use', 'ds')).code).toBe(0)
      expect(JSON.parse((await run('head', 'by-profile', '--json')).stdout.toString())).toHaveProperty('next_offset')
      expect((await run('config', 'get', 'protocol')).stdout.toString()).toBe('ds\n')
      expect((await run('config', 'rm', 'ds')).code).toBe(0)
      expect((await run('config', 'rm', 'default', 'token')).code).toBe(0)
      expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
        use: 'default',
        profiles: { default: { endpoint: server.httpUrl } },
      })
      expect(await cli(['config', 'get', 'token'], { env })).toMatchObject({
        code: 1,
        stderr: 'pico: profile default has no token\n',
      })
    } finally {
      rmSync(home, { recursive: true, force: true })
    }
  })
})

/** Peak of the resident memory so far. */
function residentPeakKiB(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

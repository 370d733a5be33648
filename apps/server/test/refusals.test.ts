import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type ServeArguments, serveDefaults, serverConfig, startServer } from '../src/index.ts'
import { main } from '../src/main.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pico-refusal-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs the command to its end. */
async function pico(argv: readonly string[], environment: Record<string, string> = {}) {
  const lines: string[] = []
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line))
  vi.spyOn(console, 'log').mockImplementation(() => {
    throw new Error('stdout is for data')
  })
  return { exitCode: await main(argv, environment), lines }
}

function serveFlagsHere(flags: ServeArguments = {}): ServeArguments {
  return {
    'kafka-listen': '127.0.0.1:0',
    listen: '127.0.0.1:0',
    'admin-listen': '127.0.0.1:0',
    'meta-url': `sqlite:${join(folder, 'meta.db')}`,
    storage: `-2@file://${join(folder, 'objects')}`,
    'log-level': 'error',
    ...flags,
  }
}

function serve(flags: ServeArguments = {}) {
  const argv = Object.entries(serveFlagsHere(flags)).flatMap(([name, value]) =>
    value === true ? [`--${name}`] : [`--${name}`, String(value)],
  )
  return pico(['serve', ...argv])
}

/** A server that runs in this process, started without the command line. */
function start(flags: ServeArguments = {}) {
  return startServer(serverConfig({ ...serveDefaults(), ...serveFlagsHere(flags) }), {
    log: pino({ level: 'silent' }),
  })
}

describe('pico serve does not start, says why in one line and ends with 1, when', () => {
  it.each(['kafka-listen', 'listen', 'ds-listen', 'schema-registry-listen', 'admin-listen'] as const)(
    'the port of --%s is in use',
    async (flag) => {
      const taken = createServer().listen(0, '127.0.0.1')
      await new Promise((resolve) => taken.once('listening', resolve))
      const address = taken.address()
      if (address === null || typeof address === 'string') throw new Error('no port')
      const { exitCode, lines } = await serve({ [flag]: `127.0.0.1:${address.port}` })
      expect(lines).toEqual([`pico: cannot listen on 127.0.0.1:${address.port} (--${flag}): the port is in use`])
      expect(exitCode).toBe(1)
      taken.close()
    },
  )

  it('a node would count as dead between two heartbeats', async () => {
    const { exitCode, lines } = await serve({ 'heartbeat-ms': '2500', 'node-ttl-ms': '4000' })
    expect(lines).toEqual([
      'pico: --node-ttl-ms 4000 is less than twice --heartbeat-ms 2500: one lost heartbeat would end the node',
    ])
    expect(exitCode).toBe(1)
  })

  it('the address is not of this machine', async () => {
    const { exitCode, lines } = await serve({ 'kafka-listen': '203.0.113.1:9092', 'insecure-allow-remote': true })
    expect(lines).toEqual([
      'pico: cannot listen on 203.0.113.1:9092 (--kafka-listen): this machine has no such address',
    ])
    expect(exitCode).toBe(1)
  })

  it.each(['kafka-listen', 'listen', 'ds-listen', 'schema-registry-listen', 'admin-listen'] as const)(
    '--%s would be exposed without being told so',
    async (flag) => {
      const { exitCode, lines } = await serve({ [flag]: '0.0.0.0:0' })
      expect(lines).toEqual([
        expect.stringMatching(
          new RegExp(`^pico: --${flag} 0\\.0\\.0\\.0:0 is beyond loopback.*--insecure-allow-remote`),
        ),
      ])
      expect(exitCode).toBe(1)
    },
  )

  it('tokens are asked for, which do not exist yet', async () => {
    const { exitCode, lines } = await serve({ auth: 'required' })
    expect(lines).toEqual([expect.stringMatching(/^pico: --auth required is not available yet/)])
    expect(exitCode).toBe(1)
  })

  it('another server has the database', async () => {
    const first = await start()
    const { exitCode, lines } = await serve()
    expect(lines).toEqual([
      expect.stringMatching(/^pico: the database .*meta\.db \(--meta-url\) is in use by another process/),
    ])
    expect(exitCode).toBe(1)
    await first.close()
  })

  it('the folder cannot be made', async () => {
    const { exitCode, lines } = await serve({ storage: '-2@file:///sys/pico' }) // where not even root may
    expect(lines).toEqual(['pico: cannot use the folder /sys/pico (--storage): permission denied'])
    expect(exitCode).toBe(1)
  })

  it('nobody answers where S3 should be', async () => {
    process.env['AWS_ACCESS_KEY_ID'] = 'key'
    process.env['AWS_SECRET_ACCESS_KEY'] = 'secret'
    const { exitCode, lines } = await serve({ storage: '-2@s3://bucket/a?endpoint=http://127.0.0.1:1' })
    expect(lines).toEqual([
      expect.stringMatching(
        /^pico: cannot use s3:\/\/bucket\/a\/ at http:\/\/127.0.0.1:1: putting an object failed: .*ECONNREFUSED.*: look at endpoint= \(--storage\)$/,
      ),
    ])
    expect(exitCode).toBe(1)
  })

  it.each(['taken', 'taken/below'])('the folder for objects is a file or in one (%s)', async (path) => {
    writeFileSync(join(folder, 'taken'), '')
    const { exitCode, lines } = await serve({ storage: `-2@file://${join(folder, path)}` })
    expect(lines).toEqual([
      expect.stringMatching(
        /^pico: cannot use the folder .*\(--storage\): (it is a file, not a folder|a part of the path is not a folder)$/,
      ),
    ])
    expect(exitCode).toBe(1)
  })

  it('the database is not one', async () => {
    writeFileSync(join(folder, 'not.db'), 'this is no database '.repeat(1000))
    const { exitCode, lines } = await serve({ 'meta-url': `sqlite:${join(folder, 'not.db')}` })
    expect(lines).toEqual([expect.stringMatching(/^pico: cannot use the database .*not\.db \(--meta-url\): .+/)])
    expect(exitCode).toBe(1)
  })

  it('the objects belong to another database', async () => {
    mkdirSync(join(folder, 'objects'))
    writeFileSync(join(folder, 'objects/somebody-elses'), 'x')
    const { exitCode, lines } = await serve()
    expect(lines).toEqual([expect.stringMatching(/^pico: --storage .* knows nothing about: give the --meta-url/)])
    expect(exitCode).toBe(1)
  })
})

describe('pico does not understand, and ends with 2:', () => {
  it.each([
    ['no command', [], /pico needs a command/],
    ['an unknown command', ['sing'], /^pico: unknown command or argument sing$/],
    ['a word too many', ['serve', 'faster'], /^pico: unknown command or argument faster$/],
    ['an unknown flag', ['serve', '--colour', 'red'], /^pico: unknown flag --colour$/],
    ['two unknown flags', ['serve', '--colour=red', '--sound'], /^pico: unknown flag --colour; unknown flag --sound$/],
    ['a mistyped flag', ['serve', '--no-kafak'], /^pico: unknown flag --no-kafak; did you mean --no-kafka\?$/],
    ['a flag without its value', ['serve', '--storage'], /^pico: --storage needs a value$/],
    [
      'a value that is not one of the choices',
      ['serve', '--kafka-replication-factor', 'two'],
      /^pico: --kafka-replication-factor "two": one of "any", "strict" is needed$/,
    ],
    ['a bad value', ['serve', '--node-id', 'x'], /^pico: --node-id is not a whole number of at least 1$/],
  ] as const)('%s', async (_, argv, message) => {
    const { exitCode, lines } = await pico(argv)
    expect(lines.join('\n')).toMatch(message)
    expect(exitCode).toBe(2)
  })

  it('a bad value in a variable, unless the command line says otherwise', async () => {
    const variables = { PICO_KAFKA_LISTEN: 'nonsense' }
    expect(await pico(['serve', '--node-id', 'x'], variables)).toMatchObject({
      exitCode: 2,
      lines: [expect.stringMatching(/--node-id.*\n.*--kafka-listen/)],
    })
    const { lines } = await pico(['serve', '--node-id', 'x', '--kafka-listen', '127.0.0.1:0'], variables)
    expect(lines).toEqual(['pico: --node-id is not a whole number of at least 1'])
  })

  it('a word in the variable of a switch that could mean either', async () => {
    const { exitCode, lines } = await pico(['serve', '--node-id', 'x'], { PICO_NO_KAFKA: 'yes' })
    expect(lines).toEqual(['pico: PICO_NO_KAFKA yes: one of true, false is needed'])
    expect(exitCode).toBe(2)
    expect((await pico(['serve', '--node-id', 'x'], { PICO_NO_KAFKA: '', PICO_NO_HTTP: '0' })).lines).toEqual([
      'pico: --node-id is not a whole number of at least 1',
    ])
  })

  it.each([
    ['that nobody allowed', { PICO_FAULT: 'kill-in-frame' }, /PICO_ALLOW_FAULTS/],
    ['that does not exist', { PICO_FAULT: 'earthquake', PICO_ALLOW_FAULTS: '1' }, /earthquake/],
  ])('a fault point %s', async (_, variables, message) => {
    const { exitCode, lines } = await pico(['serve', '--storage', `-2@file://${folder}`], variables)
    expect(lines).toEqual([expect.stringMatching(message)])
    expect(exitCode).toBe(2)
  })
})

it('a failed start leaves nothing open: the next one has the database', async () => {
  await expect(start({ 'kafka-listen': '203.0.113.1:9092', 'insecure-allow-remote': true })).rejects.toThrow(
    '--kafka-listen',
  )
  const server = await start()
  expect(server).toMatchObject({ nodeId: 1, nodeEpoch: 2, kafka: { host: '127.0.0.1', port: expect.any(Number) } })
  await server.close()
})

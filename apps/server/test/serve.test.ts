import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { accepts, PicoProcess } from './pico-process.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pico-serve-'))
})
afterEach(async () => {
  await PicoProcess.endAll()
  rmSync(folder, { recursive: true, force: true })
})

const anyPort = ['kafka-listen', 'listen', 'admin-listen'].flatMap((flag) => [`--${flag}`, '127.0.0.1:0'])

function serve(args: readonly string[] = anyPort, env: Record<string, string> = {}): PicoProcess {
  return new PicoProcess(['serve', ...args], { cwd: folder, env })
}

describe('pico serve', { timeout: 60_000 }, () => {
  it('says in JSON lines where it serves, keeps its files under ./data, ends in order at SIGTERM', async () => {
    const server = serve([...anyPort, '--log-level', 'debug'])
    const port = await server.kafkaPort()
    expect(await accepts(port)).toBe(true)
    const { code, stdout, stderr } = await server.kill('SIGTERM')
    expect(code).toBe(0)
    expect(stdout).toBe('')
    const messages = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg)
    expect(messages).toEqual([
      expect.stringMatching(/^serving streams over HTTP \(Pico protocol\) on http:\/\/127\.0\.0\.1:\d+$/),
      `serving Kafka clients on 127.0.0.1:${port}`,
      expect.stringMatching(/^serving health, metrics and the admin API on http:\/\/127\.0\.0\.1:\d+$/),
      'stopping',
      'stopped',
    ])
    expect(await accepts(port)).toBe(false)
    expect(readdirSync(join(folder, 'data')).sort()).toEqual(['meta.db', 'objects'])
  })

  it('starts again on what a kill left, ends in order at SIGINT, takes a value that looks like a flag', async () => {
    for (const [signal, storage] of [
      ['SIGKILL', ['--storage', '-2@file://./elsewhere']],
      ['SIGINT', ['--storage=-2@file://./elsewhere']],
    ] as const) {
      const server = serve([...anyPort, ...storage])
      await server.kafkaPort()
      expect((await server.kill(signal)).code).toBe(signal === 'SIGINT' ? 0 : null)
    }
    expect(readdirSync(folder)).toContain('elsewhere')
  })

  it('takes over as another node what one node of the same SQLite database left', async () => {
    const first = serve()
    const url = async (server: PicoProcess) => `http://127.0.0.1:${await server.httpPort()}`
    await fetch(`${await url(first)}/orders`, { method: 'PUT' })
    expect((await fetch(`${await url(first)}/orders`, { method: 'POST', body: 'kept' })).status).toBe(200)
    await first.kill('SIGKILL')
    const second = serve(['--node-id', '2', ...anyPort])
    expect(await (await fetch(`${await url(second)}/orders?format=raw`)).text()).toBe('kept')
    expect((await second.kill('SIGTERM')).code).toBe(0)
  })

  it('takes its flags from variables', async () => {
    const server = serve([], {
      PICO_KAFKA_LISTEN: '127.0.0.1:0',
      PICO_LISTEN: '127.0.0.1:0',
      PICO_NO_ADMIN: 'true',
      PICO_META_URL: 'sqlite:./other.db',
      PICO_STORAGE: '-2@file://./other',
    })
    await server.kafkaPort()
    expect((await server.kill('SIGTERM')).code).toBe(0)
    expect(readdirSync(folder).sort()).toEqual(['other', 'other.db'])
  })
})

it('an older Node is told which one is needed', async () => {
  const older = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.1.0'})"
  const { code, stderr } = await new PicoProcess(['serve'], { cwd: folder, nodeFlags: ['--import', older] }).ended
  expect(stderr).toBe('pico needs Node 22.15 or newer; this is 20.1.0\n')
  expect(code).toBe(1)
})

it('the first file of the command imports nothing, so that any Node can run it', () => {
  const source = readFileSync(new URL('../src/cli.ts', import.meta.url), 'utf8')
  expect(source).not.toMatch(/^import\s/m)
})

import { systemClock } from '@pico/log'
import type { NotOwner, PathStreams } from '@pico/streams'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { defaultHttpSettings, silentHttpObserver } from '../../src/index.ts'
import { picoService } from '../../src/pico/pico-service.ts'
import { SharedPages } from '../../src/pico/shared-pages.ts'
import { type HttpListener, openHttpServer } from '../../src/server/http-server.ts'
import { PicoSystem } from './pico-system.ts'

let pico: PicoSystem
beforeAll(async () => {
  pico = await PicoSystem.open()
})
afterAll(() => pico.close())

/** What a node answers that shares its streams with others: `/theirs` is another one's. */
function withOtherOwner(paths: PathStreams, ownerAddress: string | null): PathStreams {
  const notOwner: NotOwner = { kind: 'not-owner', ownerAddress }
  const isTheirs = (name: string) => name.startsWith('/theirs')
  return {
    create: async (stream) => (isTheirs(stream.name) ? notOwner : paths.create(stream)),
    open: (name) => (isTheirs(name) ? notOwner : paths.open(name)),
    describe: async (name) => (isTheirs(name) ? notOwner : paths.describe(name)),
    list: (page) => paths.list(page),
    delete: async (name) => (isTheirs(name) ? notOwner : paths.delete(name)),
  }
}

async function ask(ownerAddress: string | null, routing: 'redirect' | 'local', method: string) {
  const settings = { ...defaultHttpSettings, host: '127.0.0.1', port: 0, routing }
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  const clock = systemClock
  const paths = withOtherOwner(pico.streams.paths, ownerAddress)
  const { schemas } = pico
  const parts = { paths, schemas, clock, log, observer: silentHttpObserver, random: Math.random, settings }
  const service = picoService({ ...parts, sharedPages: new SharedPages(), registry: null })
  const listener: HttpListener = await openHttpServer(service, { clock, log }, settings)
  const answer = await fetch(`http://127.0.0.1:${listener.port}/theirs/%C3%A9?seq=1&x=%20`, {
    method,
    redirect: 'manual',
    ...(method === 'POST' && { body: 'x' }),
  })
  const body = await answer.text()
  await listener.close(0)
  return { answer, error: body === '' ? null : JSON.parse(body).error }
}

describe.each(['GET', 'HEAD', 'POST', 'PUT', 'DELETE'])('%s of a stream that another node has', (method) => {
  test('is sent there, path and query as they came', async () => {
    const { answer } = await ask('http://owner.example:4437/', 'redirect', method)
    expect(answer.status).toBe(307)
    expect(answer.headers.get('location')).toBe('http://owner.example:4437/theirs/%C3%A9?seq=1&x=%20')
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('is not_owner where clients are not to be sent around', async () => {
    const { answer, error } = await ask('http://owner.example:4437', 'local', method)
    expect([answer.status, answer.headers.get('location')]).toEqual([409, null])
    if (method !== 'HEAD') expect(error).toBe('not_owner')
  })

  test('is to be tried again while nobody has it', async () => {
    const { answer } = await ask(null, 'redirect', method)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  })
})

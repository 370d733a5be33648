import { afterEach, beforeEach, expect, test } from 'vitest'
import { errorOf, PicoSystem } from './pico-system.ts'

let pico: PicoSystem
beforeEach(async () => {
  pico = await PicoSystem.open({ roomTimeoutMs: 300 }, { unflushedBytesMax: 100_000 })
  await pico.create('/s')
  // From now on nothing becomes durable: the log is full after the first.
  pico.store.inject({ operation: 'write', fault: { kind: 'hang' } })
})
afterEach(async () => {
  expect(pico.errors).toEqual([])
  await pico.close()
})

async function fill(): Promise<Promise<unknown>[]> {
  const appends = [pico.append('/s', Buffer.alloc(60_000)), pico.append('/s', Buffer.alloc(60_000))]
  await expect.poll(() => pico.streams.hasRoom()).toBe(false)
  return appends
}

test('while the log has no room an append waits, and goes on when it has', async () => {
  const before = await fill()
  const waiting = pico.append('/s', 'later')
  await new Promise((resolve) => setTimeout(resolve, 50))
  pico.store.heal()
  expect((await waiting).headers['pico-start-seq']).toBe('2')
  await Promise.all(before)
})

test('an append that has waited too long is 503, and not there', async () => {
  const before = await fill()
  const refused = await pico.append('/s', 'never')
  expect([refused.status, errorOf(refused).error, refused.headers['retry-after']]).toEqual([503, 'unavailable', '1'])
  pico.store.heal()
  await Promise.all(before)
  expect((await pico.send('HEAD', '/s')).headers['pico-next-seq']).toBe('2')
})

test('reads go on meanwhile', async () => {
  const before = await fill()
  expect((await pico.get('/s')).status).toBe(200)
  pico.store.heal()
  await Promise.all(before)
})

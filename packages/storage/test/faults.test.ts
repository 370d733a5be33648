import {
  type ObjectInfo,
  ObjectMissingError,
  type ObjectStore,
  SegmentFailedError,
  type SegmentStore,
  StoreFailedError,
  systemCode,
} from '@pico/storage'
import { type FaultClock, type FaultInjection, type FaultPlan, withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import { describe, expect, test } from 'vitest'

interface Faulty {
  readonly store: ObjectStore & SegmentStore & FaultInjection
  /** The store beneath, to see what really happened. */
  readonly inner: ObjectStore & SegmentStore
}

function faulty(plan: FaultPlan): Faulty {
  const inner = openMemoryStore()
  return { inner, store: withFaults(inner, plan) }
}

async function listed(list: AsyncIterable<ObjectInfo>): Promise<ObjectInfo[]> {
  const infos: ObjectInfo[] = []
  for await (const info of list) infos.push(info)
  return infos
}

const bytes = (text: string) => [Buffer.from(text)]

/** Time that passes only by sleeping. */
function virtualClock(): FaultClock & { readonly slept: number[] } {
  let nowMs = 0
  const slept: number[] = []
  return {
    slept,
    nowMs: () => nowMs,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      slept.push(ms)
      nowMs += ms
    },
  }
}

describe('a call that fails', () => {
  test('before its effect has none, after it has it; both are the store’s error with the system’s code', async () => {
    const { store, inner } = faulty({
      rules: [
        { operation: 'put', nth: 1, fault: { kind: 'fail-before', code: 'ENOSPC' } },
        { operation: 'put', nth: 2, fault: { kind: 'fail-after' } },
      ],
    })
    const first = await store.put('a', bytes('x')).catch((error: unknown) => error)
    expect(first).toBeInstanceOf(StoreFailedError)
    expect(systemCode((first as Error).cause)).toBe('ENOSPC')
    await expect(inner.get('a')).rejects.toThrow(ObjectMissingError)
    const second = await store.put('a', bytes('x')).catch((error: unknown) => error)
    expect(systemCode((second as Error).cause)).toBe('EIO')
    expect(Buffer.from(await inner.get('a')).toString()).toBe('x')
    await store.put('a', bytes('third'))
  })

  test('may be any operation', async () => {
    for (const operation of ['get', 'delete', 'list', 'create'] as const) {
      const { store, inner } = faulty({ rules: [{ operation, fault: { kind: 'fail-before' } }] })
      await store.put('a', bytes('x'))
      const calls = {
        get: () => store.get('a'),
        delete: () => store.delete(['a']),
        list: () => listed(store.list('')),
        create: () => store.create('b', 512),
      }
      await expect(calls[operation]()).rejects.toThrow(StoreFailedError)
      expect(await listed(inner.list(''))).toMatchObject([{ key: 'a', sizeBytes: 1 }])
      store.heal()
      await calls[operation]()
    }
  })

  test('is picked by key, by count from when its rule came into force, or by the seed', async () => {
    const { store } = faulty({})
    await store.put('data/1', bytes('x'))
    store.inject({ operation: 'get', key: /^data/, nth: 2, fault: { kind: 'fail-before' } })
    await store.put('wal/1', bytes('x'))
    await store.get('wal/1')
    await store.get('data/1')
    await expect(store.get('data/1')).rejects.toThrow(StoreFailedError)
    await store.get('data/1')

    const outcomes = async (seed: number) => {
      const { store: seeded } = faulty({
        seed,
        rules: [{ operation: 'put', probability: 0.5, fault: { kind: 'fail-before' } }],
      })
      const results = Array.from({ length: 64 }, (_, i) =>
        seeded.put(`${i}`, []).then(
          () => true,
          () => false,
        ),
      )
      return Promise.all(results)
    }
    expect(await outcomes(1)).toEqual(await outcomes(1))
    expect(await outcomes(1)).not.toEqual(await outcomes(2))
    const failed = (await outcomes(3)).filter((succeeded) => !succeeded).length
    expect(failed).toBeGreaterThan(16)
    expect(failed).toBeLessThan(48)
  })
})

describe('a segment write that fails', () => {
  test.each(['fail-before', 'fail-after'] as const)('%s refuses all that comes after it', async (kind) => {
    const { store, inner } = faulty({ rules: [{ operation: 'write', nth: 2, fault: { kind, code: 'ENOSPC' } }] })
    const segment = await store.create('wal/1', 4096)
    await segment.write(0, bytes('first'))
    const error = await segment.write(512, bytes('second')).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(SegmentFailedError)
    expect(systemCode((error as Error).cause)).toBe('ENOSPC')
    await expect(segment.write(512, bytes('third'))).rejects.toBe(error)
    store.heal()
    await expect(segment.write(512, bytes('third'))).rejects.toBe(error)
    const there = Buffer.from(await inner.get('wal/1', { offset: 512, length: 6 })).toString()
    expect(there).toBe(kind === 'fail-after' ? 'second' : '\0'.repeat(6))
    await segment.close()
  })

  test('torn after its beginning leaves that and no more, for every seed', async () => {
    const whole = Buffer.alloc(2000, 1)
    const lengths = new Set<number>()
    for (let seed = 0; seed < 50; seed++) {
      const { store, inner } = faulty({
        seed,
        rules: [{ operation: 'write', fault: { kind: 'torn', keep: 'beginning' } }],
      })
      const segment = await store.create('wal/1', 4096)
      await expect(segment.write(512, [whole.subarray(0, 700), whole.subarray(700)])).rejects.toThrow(
        SegmentFailedError,
      )
      const left = Buffer.from(await inner.get('wal/1'))
      const length = left.indexOf(0, 512) - 512
      expect(left.subarray(512 + length).every((byte) => byte === 0)).toBe(true)
      expect(length).toBeLessThan(whole.length)
      lengths.add(length)
    }
    expect(lengths.size).toBeGreaterThan(30)
  })

  test('torn by sectors leaves some of them whole, never all', async () => {
    const whole = Buffer.alloc(512 * 6, 1)
    const patterns = new Set<string>()
    for (let seed = 0; seed < 50; seed++) {
      const { store, inner } = faulty({
        seed,
        rules: [{ operation: 'write', fault: { kind: 'torn', keep: 'sectors' } }],
      })
      const segment = await store.create('wal/1', 4096)
      await expect(segment.write(512, [whole])).rejects.toThrow(SegmentFailedError)
      const left = Buffer.from(await inner.get('wal/1', { offset: 512, length: whole.length }))
      const sectors = Array.from({ length: 6 }, (_, i) => left.subarray(i * 512, i * 512 + 512))
      for (const sector of sectors) expect(new Set(sector).size).toBe(1)
      const pattern = sectors.map((sector) => sector[0]).join('')
      expect(pattern).not.toBe('111111')
      patterns.add(pattern)
    }
    expect(patterns.size).toBeGreaterThan(15)
  })
})

test('an altered get differs in one bit, and the object is as it was', async () => {
  const { store, inner } = faulty({ rules: [{ operation: 'get', fault: { kind: 'altered' } }] })
  const original = Buffer.alloc(100)
  await store.put('a', [original])
  const altered = await store.get('a')
  const bits = altered.reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0)
  expect(bits).toBe(1)
  expect(Buffer.compare(await inner.get('a'), original)).toBe(0)
})

describe('a call that hangs', () => {
  test('ends when it is aborted, without effect', async () => {
    const { store, inner } = faulty({ rules: [{ operation: 'put', fault: { kind: 'hang' } }] })
    const controller = new AbortController()
    const put = store.put('a', bytes('x'), { signal: controller.signal })
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(put).rejects.toBe(reason)
    await expect(inner.get('a')).rejects.toThrow(ObjectMissingError)
  })

  test('goes on when the faults are healed', async () => {
    const { store } = faulty({ rules: [{ operation: 'write', fault: { kind: 'hang' } }] })
    const segment = await store.create('wal/1', 512)
    let done = false
    const write = segment.write(0, bytes('x')).then(() => {
      done = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(done).toBe(false)
    store.heal()
    await write
  })
})

describe('time', () => {
  test('a latency comes before every call', async () => {
    const clock = virtualClock()
    const { store } = faulty({ latencyMs: 20, clock })
    await store.put('a', bytes('x'))
    await store.get('a')
    expect(clock.slept).toEqual([20, 20])
  })

  test('a bandwidth is shared by all that goes over it', async () => {
    const clock = virtualClock()
    const { store } = faulty({ bytesPerSecond: 1000, clock })
    await store.put('a', [Buffer.alloc(500), Buffer.alloc(500)])
    await store.get('a', { offset: 0, length: 250 })
    const segment = await store.create('wal/1', 512)
    await segment.write(0, [Buffer.alloc(100)])
    const streamed = async function* () {
      yield Buffer.alloc(200)
      yield Buffer.alloc(300)
    }
    await store.put('b', streamed())
    expect(clock.slept).toEqual([1000, 250, 100, 200, 300])
    store.limit(undefined)
    await store.get('a')
    expect(clock.slept.length).toBe(5)
  })

  test('calls at once wait for one another on a slow link, in real time', async () => {
    const { store } = faulty({ bytesPerSecond: 100_000 })
    const before = performance.now()
    await Promise.all(['a', 'b', 'c'].map((key) => store.put(key, [Buffer.alloc(2000)])))
    expect(performance.now() - before).toBeGreaterThanOrEqual(58)
  })

  test('a wait can be aborted', async () => {
    const { store } = faulty({ latencyMs: 60_000 })
    await expect(store.get('a', undefined, { signal: AbortSignal.timeout(5) })).rejects.toThrow('timeout')
  })
})

test('hooks stand right before and right after the effect, also of a call that is then reported as failed', async () => {
  const trace: string[] = []
  const inner = openMemoryStore()
  const there = async (key: string) => (await listed(inner.list(key))).length === 1
  const store = withFaults(inner, {
    rules: [{ operation: 'put', nth: 2, fault: { kind: 'fail-after' } }],
    before: async (operation, key) => void trace.push(`before ${operation} ${key} ${await there(key)}`),
    after: async (operation, key) => void trace.push(`after ${operation} ${key} ${await there(key)}`),
  })
  await store.put('a', bytes('x'))
  await expect(store.put('b', bytes('x'))).rejects.toThrow(StoreFailedError)
  await store.delete(['a', 'b'])
  expect(trace).toEqual([
    'before put a false',
    'after put a true',
    'before put b false',
    'after put b true',
    'before delete a true',
    'before delete b true',
    'after delete a false',
    'after delete b false',
  ])
})

test('a fault that its operation cannot suffer is a bug of the test', () => {
  const { store } = faulty({})
  expect(() => store.inject({ operation: 'put', fault: { kind: 'torn', keep: 'beginning' } })).toThrow('torn')
  expect(() => store.inject({ operation: 'write', fault: { kind: 'altered' } })).toThrow('altered')
})

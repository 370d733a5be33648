import { ObjectMissingError } from '@pico/storage'
import { withFaults } from '@pico/storage/faults'
import { openMemoryStore } from '@pico/storage/memory'
import { describe, expect, it, vi } from 'vitest'
import { abortOldUploads } from '../src/abandoned-uploads.ts'
import { storeProbe } from '../src/probes.ts'

const signal = new AbortController().signal

/** A store in memory that says what it was asked. */
function watched() {
  const asked: string[] = []
  const store = withFaults(openMemoryStore(), { before: (operation) => void asked.push(operation) })
  return { store, asked }
}

describe('the probe of a store', () => {
  it('puts, reads and deletes each time where that costs nothing', async () => {
    const { store, asked } = watched()
    const probe = storeProbe({ name: 'storage', store, nodeId: 1, writableForMs: 0 })
    for (let i = 0; i < 2; i++) await probe.run(signal)
    expect(asked).toEqual(['put', 'get', 'delete', 'put', 'get', 'delete'])
  })

  it('is one GET for a while after that, where each request costs money', async () => {
    const { store, asked } = watched()
    const probe = storeProbe({ name: 'storage', store, nodeId: 1, writableForMs: 100 })
    for (let i = 0; i < 4; i++) await probe.run(signal)
    expect(asked).toEqual(['put', 'get', 'delete', 'get', 'get', 'get'])
    await vi.waitFor(async () => {
      await probe.run(signal)
      expect(asked.filter((it) => it === 'put')).toHaveLength(2)
    }, 5_000)
    await expect(store.get('probe/node-1')).rejects.toThrow(ObjectMissingError)
  })

  it('fails when the GET does, and then tries all of it again', async () => {
    const { store, asked } = watched()
    const probe = storeProbe({ name: 'storage', store, nodeId: 1, writableForMs: 60_000 })
    await probe.run(signal)
    store.inject({ operation: 'get', fault: { kind: 'fail-before' } })
    await expect(probe.run(signal)).rejects.toThrow()
    store.heal()
    asked.length = 0
    await probe.run(signal)
    expect(asked).toEqual(['put', 'get', 'delete'])
  })
})

describe('looking for abandoned uploads', () => {
  it('is done by whoever leads, and ends when it is stopped', async () => {
    vi.useFakeTimers()
    try {
      const rounds: number[] = []
      let leads = false
      const store = {
        abortUploads: async (beforeMs: number) => {
          rounds.push(Date.now() - beforeMs)
          return 0
        },
      }
      const uploads = abortOldUploads(
        store,
        () => leads,
        () => expect.unreachable(),
      )
      await vi.advanceTimersByTimeAsync(60 * 60_000)
      expect(rounds).toEqual([])
      leads = true
      await vi.advanceTimersByTimeAsync(20 * 60_000)
      expect(rounds).toEqual([3600_000, 3600_000])
      await uploads.stop()
      await vi.advanceTimersByTimeAsync(60 * 60_000)
      expect(rounds).toHaveLength(2)
    } finally {
      vi.useRealTimers()
    }
  })
})

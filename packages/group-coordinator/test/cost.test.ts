import { describe, expect, it } from 'vitest'
import { GroupDriver } from './driver.ts'

/** A Map that can be asked for one entry, but not walked. */
class NoWalking<K, V> extends Map<K, V> {
  override [Symbol.iterator](): never {
    throw new Error('every member was looked at')
  }
  override keys = this[Symbol.iterator]
  override values = this[Symbol.iterator]
  override entries = this[Symbol.iterator]
}

describe('in a stable group', () => {
  it('a heartbeat or a commit of one member looks at no other, and neither asks for an earlier tick', () => {
    const group = new GroupDriver()
    const ids = group.stable({}, {}, {})
    const { members, nextDeadlineMs } = group.state
    const unwalkable = new NoWalking<string, unknown>()
    for (const memberId of ids) unwalkable.set(memberId, members.get(memberId))
    group.state = { ...group.state, members: unwalkable as typeof members }
    group.nowMs += 3_000
    for (const memberId of ids) {
      expect(group.heartbeat(memberId)).toBe(0)
      expect(group.commitCode(group.commit({ t: 1 }, { memberId, generationId: 3 }))).toBe(0)
    }
    expect(group.state.nextDeadlineMs).toBe(nextDeadlineMs)
    expect(() => group.send({ kind: 'tick' })).toThrow(/every member was looked at/)
  })

  it('whose members heartbeat a tick is due about once in a session timeout, and then does nothing', () => {
    const group = new GroupDriver()
    const ids = group.stable({}, {}, {})
    let ticks = 0
    for (let ms = 0; ms < 600_000; ms += 3_000) {
      group.nowMs += 3_000
      for (const memberId of ids) expect(group.heartbeat(memberId)).toBe(0)
      if (group.state.nextDeadlineMs > group.nowMs) continue
      group.send({ kind: 'tick' })
      ticks++
    }
    expect(ticks).toBeLessThanOrEqual(600_000 / 7_000)
    expect(group.state).toMatchObject({ phase: 'Stable', generationId: 3 })
  })
})

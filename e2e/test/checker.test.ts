import { describe, expect, it } from 'vitest'
import { check } from '../src/durability/checker.ts'
import { type History, type LogRecord, recordValue } from '../src/durability/history.ts'

/** Ten records of `a` (idempotent) and of `b` (plain), taking turns, all acknowledged and read. */
function sound(): { history: History; logs: Map<string, LogRecord[]> } {
  const log = Array.from({ length: 20 }, (_, offset) => ({
    offset,
    value: recordValue(offset % 2 === 0 ? 'a' : 'b', offset >> 1),
  }))
  const acknowledged = (start: number) =>
    Array.from({ length: 10 }, (_, first) => ({ first, count: 1, offset: 2 * first + start }))
  const history: History = {
    producers: [
      { name: 'a', topic: 't', idempotent: true, acknowledged: acknowledged(0), sent: 10 },
      { name: 'b', topic: 't', idempotent: false, acknowledged: acknowledged(1), sent: 10 },
    ],
    readers: [{ topic: 't', seen: [...log] }],
  }
  return { history, logs: new Map([['t', log]]) }
}

function breachesAfter(damage: (log: LogRecord[], history: History) => void): string[] {
  const { history, logs } = sound()
  damage(logs.get('t') ?? [], history)
  return check(history, logs)
}

const renumber = (log: LogRecord[]) => {
  for (const [offset, { value }] of log.entries()) log[offset] = { offset, value }
}

describe('the durability checker', () => {
  it('finds nothing in a sound history', () => {
    expect(breachesAfter(() => undefined)).toEqual([])
  })

  it('allows a record that was sent and never acknowledged, there or not', () => {
    const extra = (log: LogRecord[], history: History) => {
      log.push({ offset: 20, value: recordValue('a', 10) })
      for (const producer of history.producers) producer.sent = 12
    }
    expect(breachesAfter(extra)).toEqual([])
  })

  it('allows a plain producer its duplicates', () => {
    expect(breachesAfter((log) => log.push({ offset: 20, value: recordValue('b', 9) }))).toEqual([])
  })

  it('sees an acknowledged record lost from the end', () => {
    expect(breachesAfter((log) => log.pop())).toContain('b: record 9 acknowledged at 19, where there is nothing')
  })

  it('sees an acknowledged record lost from the middle, though offsets are dense', () => {
    const breaches = breachesAfter((log) => {
      log.splice(4, 1)
      renumber(log)
    })
    expect(breaches.join('\n')).toContain('a: record 2 acknowledged at 4, where there is b:2:')
  })

  it('sees a hole in the offsets', () => {
    expect(breachesAfter((log) => log.splice(4, 1))).toContain('t: offset 5 comes where 4 is due')
  })

  it('sees an idempotent record twice', () => {
    const breaches = breachesAfter((log) => log.push({ offset: 20, value: recordValue('a', 9) }))
    expect(breaches).toEqual(['a: record 9 at 20 comes after record 9'])
  })

  it('sees two idempotent records exchanged', () => {
    const breaches = breachesAfter((log, history) => {
      log[0] = { offset: 0, value: recordValue('a', 1) }
      log[2] = { offset: 2, value: recordValue('a', 0) }
      history.producers[0]?.acknowledged.splice(0, 2)
      history.readers[0]?.seen.splice(0, 3)
    })
    expect(breaches).toEqual(['a: record 0 at 2 comes after record 1'])
  })

  it('sees a record at another offset than was acknowledged', () => {
    const breaches = breachesAfter((_, history) => {
      history.producers[0]?.acknowledged.push({ first: 3, count: 1, offset: 8 })
    })
    expect(breaches).toEqual([`a: record 3 acknowledged at 8, where there is ${recordValue('a', 4).slice(0, 60)}`])
  })

  it('sees an altered value', () => {
    const breaches = breachesAfter((log) => {
      log[6] = { offset: 6, value: `${recordValue('a', 3)}x` }
    })
    expect(breaches.join('\n')).toContain('t: offset 6 holds what nobody sent')
  })

  it('sees a record that nobody sent', () => {
    const breaches = breachesAfter((log) => log.push({ offset: 20, value: recordValue('a', 10) }))
    expect(breaches.join('\n')).toContain('t: offset 20 holds what nobody sent')
  })

  it('sees that what a reader was given is gone', () => {
    const breaches = breachesAfter((log, history) => {
      log.pop()
      history.producers[1]?.acknowledged.pop()
    })
    expect(breaches).toEqual([`t: a reader saw ${recordValue('b', 9).slice(0, 60)} at 19, where there is nothing`])
  })

  it('sees a topic that was not read at all', () => {
    expect(check(sound().history, new Map())).toEqual(['a: topic t was not read', 'b: topic t was not read'])
  })
})

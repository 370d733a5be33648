import { describe, expect, it } from 'vitest'
import { differencesOf } from '../src/cluster/read-cluster.ts'
import { check } from '../src/durability/checker.ts'
import { contentOf, type EndView, type History, type LogRecord, recordValue } from '../src/durability/history.ts'

const content = (producer: string, number: number) => contentOf(recordValue(producer, number))

/** Ten records of `a` (idempotent) and of `b` (plain), taking turns, one a millisecond, all acknowledged and read. */
function sound(): { history: History; logs: Map<string, LogRecord[]> } {
  const log = Array.from({ length: 20 }, (_, offset) => ({
    offset,
    content: content(offset % 2 === 0 ? 'a' : 'b', offset >> 1),
  }))
  const acknowledged = (start: number) =>
    Array.from({ length: 10 }, (_, first) => {
      const offset = 2 * first + start
      return { first, count: 1, offset, answeredAtMs: offset + 1 }
    })
  const ends = log.map(({ offset }) => view(offset, offset + 2, offset + 1))
  const history: History = {
    producers: [
      { name: 'a', log: 't-0', idempotent: true, acknowledged: acknowledged(0), sent: 10 },
      { name: 'b', log: 't-0', idempotent: false, acknowledged: acknowledged(1), sent: 10 },
    ],
    readers: [
      { name: 'r', log: 't-0', seen: [...log], ends },
      { name: 's', log: 't-0', seen: log.slice(0, 12), ends: [view(12.5, 13.5, 13)] },
    ],
  }
  return { history, logs: new Map([['t-0', log]]) }
}

function view(askedAtMs: number, answeredAtMs: number, offset: number): EndView {
  return { askedAtMs, answeredAtMs, offset }
}

function breachesAfter(damage: (log: LogRecord[], history: History) => void): string[] {
  const { history, logs } = sound()
  damage(logs.get('t-0') ?? [], history)
  return check(history, logs)
}

const renumber = (log: LogRecord[]) => {
  for (const [offset, { content }] of log.entries()) log[offset] = { offset, content }
}

const withoutTimes = (breach: string) => breach.replaceAll(/[\d:]+\.\d{3}/g, '…')

describe('the durability checker', () => {
  it('finds nothing in a sound history', () => {
    expect(breachesAfter(() => undefined)).toEqual([])
  })

  it('allows a record that was sent and never acknowledged, there or not', () => {
    const extra = (log: LogRecord[], history: History) => {
      log.push({ offset: 20, content: content('a', 10) })
      for (const producer of history.producers) producer.sent = 12
    }
    expect(breachesAfter(extra)).toEqual([])
  })

  it('allows a plain producer its duplicates', () => {
    expect(breachesAfter((log) => log.push({ offset: 20, content: content('b', 9) }))).toEqual([])
  })

  it('sees an acknowledged record lost from the end', () => {
    const lost = 'b: record 9 acknowledged at 19 of t-0, where there is nothing'
    expect(breachesAfter((log) => log.pop())).toContain(lost)
  })

  it('sees an acknowledged record lost from the middle, though offsets are dense', () => {
    const breaches = breachesAfter((log) => {
      log.splice(4, 1)
      renumber(log)
    })
    expect(breaches).toContain('a: record 2 acknowledged at 4 of t-0, where there is b:2')
  })

  it('sees a hole in the offsets', () => {
    expect(breachesAfter((log) => log.splice(4, 1))).toContain('t-0: offset 5 comes where 4 is due')
  })

  it('sees an idempotent record twice', () => {
    const breaches = breachesAfter((log) => log.push({ offset: 20, content: content('a', 9) }))
    expect(breaches).toEqual(['a: record 9 at 20 of t-0 comes after record 9'])
  })

  it('sees two idempotent records exchanged', () => {
    const breaches = breachesAfter((log, history) => {
      log[0] = { offset: 0, content: content('a', 1) }
      log[2] = { offset: 2, content: content('a', 0) }
      history.producers[0]?.acknowledged.splice(0, 2)
      for (const reader of history.readers) reader.seen.splice(0)
    })
    expect(breaches).toEqual(['a: record 0 at 2 of t-0 comes after record 1'])
  })

  it('sees a record at another offset than was acknowledged', () => {
    const breaches = breachesAfter((_, history) => {
      history.producers[0]?.acknowledged.push({ first: 3, count: 1, offset: 8 })
    })
    expect(breaches).toContain('a: record 3 acknowledged at 8 of t-0, where there is a:4')
  })

  it('sees records of a plain producer acknowledged out of order', () => {
    const breaches = breachesAfter((log, history) => {
      for (const [offset, number] of [
        [1, 1],
        [3, 0],
      ] as const) {
        log[offset] = { offset, content: content('b', number) }
        history.producers[1]!.acknowledged[number] = { first: number, count: 1, offset }
      }
      for (const reader of history.readers) reader.seen.splice(0)
    })
    expect(breaches).toEqual(['b: record 1 acknowledged at 1, and the one before it at 3'])
  })

  it('sees an altered value', () => {
    const breaches = breachesAfter((log) => {
      log[6] = { offset: 6, content: contentOf(`${recordValue('a', 3)}x`) }
    })
    expect(breaches.join('\n')).toContain('t-0: offset 6 holds what nobody sent: "a:3:')
  })

  it('sees a record that nobody sent', () => {
    const breaches = breachesAfter((log) => log.push({ offset: 20, content: content('a', 10) }))
    expect(breaches).toEqual(['t-0: offset 20 holds what nobody sent: a:10'])
  })

  it('sees that what a reader was given is gone', () => {
    const breaches = breachesAfter((log, history) => {
      log.pop()
      history.producers[1]?.acknowledged.pop()
      history.readers[0]?.ends.pop()
    })
    expect(breaches).toEqual(['r saw b:9 at 19 of t-0, where there is nothing'])
  })

  it('sees that an offset was given another record after a reader had seen it', () => {
    const breaches = breachesAfter((log, history) => {
      history.producers[1]?.acknowledged.pop()
      log[19] = { offset: 19, content: content('b', 8) }
    })
    expect(breaches).toEqual(['r saw b:9 at 19 of t-0, where there is b:8'])
  })

  it('sees a reader given something again', () => {
    const breaches = breachesAfter((log, history) => history.readers[1]?.seen.push(...log.slice(11, 13)))
    expect(breaches).toEqual(['s was given offset 11 of t-0, where 12 was due'])
  })

  it('sees a reader that was made to skip something', () => {
    const breaches = breachesAfter((_, history) => history.readers[1]?.seen.splice(3, 2))
    expect(breaches).toEqual(['s was given offset 5 of t-0, where 3 was due'])
  })

  it('sees an end that goes back, of one reader or from one to the other', () => {
    const ofOne = breachesAfter((_, history) => history.readers[1]?.ends.push(view(14, 15, 12)))
    expect(ofOne.map(withoutTimes)).toEqual([
      't-0: s asked the broker at … and was told that it ends at 12, though a had heard of 13 at …',
    ])
    const fromOther = breachesAfter((_, history) => {
      history.readers[0]?.ends.push(view(30, 31, 20))
      history.readers[1]?.ends.push(view(31.5, 32, 19))
    })
    expect(fromOther.map(withoutTimes)).toEqual([
      't-0: s asked the broker at … and was told that it ends at 19, though b had heard of 20 at …',
    ])
  })

  it('allows an end that is out of date only because both were asked at once', () => {
    expect(breachesAfter((_, history) => history.readers[1]?.ends.push(view(13, 40, 12)))).toEqual([])
  })

  it('sees that a log was said to be longer than it is', () => {
    const breaches = breachesAfter((_, history) => history.readers[0]?.ends.push(view(30, 31, 22)))
    expect(breaches).toEqual(['t-0: r was told that it ends at 22, and it has 20 records'])
  })

  it('sees a log that was not read at all', () => {
    const breaches = check(sound().history, new Map())
    expect(breaches).toEqual(['a', 'b', 'r', 's'].map((name) => `${name}: t-0 was not read`))
  })
})

describe('two readings of a log', () => {
  const log = () => sound().logs.get('t-0') ?? []

  it('are the same where nothing differs', () => {
    expect(differencesOf('again', log(), log())).toEqual([])
  })

  it('differ where one is shorter', () => {
    expect(differencesOf('again', log().slice(0, 19), log())).toEqual(['again: 19 records, and 20 before'])
  })

  it('differ where an offset has another content', () => {
    const changed = log().with(3, { offset: 3, content: content('b', 7) })
    expect(differencesOf('again', changed, log())).toEqual(['again: b:7 at 3, and b:1 at 3 before'])
  })
})

import { describe, expect, it } from 'vitest'
import { recordValue, senderOf } from '../src/durability/history.ts'
import type { Committed, MemberReport, Ownership, Processed } from '../src/groups/member-report.ts'
import { type GroupHistory, judgeGroup, repeatedRecords } from '../src/groups/rolling-judge.ts'

/**
 * One partition with twenty records, one a ms, acknowledged in runs of two. `old` has it from 0 to 110 ms and `new` from
 * 120 ms on; each processes ten records, commits them, and a stranger looks in between. The broker was away at 200 ms.
 */
function sound(): SoundHistory {
  const acknowledged = Array.from({ length: 10 }, (_, run) => ({ first: 2 * run, count: 2, offset: 2 * run }))
  const old: MemberReport[] = [
    owns(0, 1, [0]),
    ...run(0, 10, 1),
    committed(100, 10),
    { atMs: 110, kind: 'gaveUp', partitions: [0] },
  ]
  const next: MemberReport[] = [owns(120, 2, [0]), ...run(10, 20, 121), committed(180, 20), owns(210, 1, [0])]
  return {
    producers: [{ name: 'p', log: 't-0', idempotent: true, acknowledged, sent: 20 }],
    members: [
      { name: 'old', reports: old },
      { name: 'new', reports: next },
    ],
    views: [view(50, -1), view(105, 10), view(150, 10), view(190, 20)],
    brokerBackAtMs: [205],
  }
}

interface SoundHistory extends GroupHistory {
  readonly members: [Member, Member]
  readonly views: GroupHistory['views'][number][]
}
interface Member {
  readonly name: string
  readonly reports: MemberReport[]
}

function breachesAfter(damage: (history: SoundHistory) => void): string[] {
  const history = sound()
  damage(history)
  return judgeGroup(history)
}

describe('the judge of rolling restarts', () => {
  it('finds nothing in a sound history', () => {
    expect(breachesAfter(() => undefined)).toEqual([])
    expect(repeatedRecords(sound())).toBe(0)
  })

  it('allows what was not yet committed to be processed again, and counts it', () => {
    const history = sound()
    history.members[0].reports.splice(12, 0, processed(11, 116), processed(10, 117))
    history.members[0].reports.splice(12, 0, processed(12, 118))
    expect(judgeGroup(history)).toEqual([])
    expect(repeatedRecords(history)).toBe(3)
  })

  it('sees an acknowledged record that nobody processed', () => {
    const breaches = breachesAfter(({ members }) => members[1].reports.splice(4, 1))
    expect(breaches).toContain('0: record 13, acknowledged at 13, was not processed')
    expect(breaches).toContain('0: offset 20 is committed, and record 13 not yet processed')
  })

  it('sees an acknowledged record at the end that nobody processed, though nothing after it is committed', () => {
    const breaches = breachesAfter(({ members, views }) => {
      members[1].reports.splice(10, 2, committed(180, 19))
      views[3] = view(190, 19)
    })
    expect(breaches).toEqual(['0: record 19, acknowledged at 19, was not processed'])
  })

  it('sees another record than the acknowledged one, and one that nobody sent', () => {
    const breaches = breachesAfter(({ members }) => {
      members[0].reports[3] = { ...processed(2, 3), sender: senderOf(recordValue('p', 7)) }
      members[0].reports[4] = { ...processed(3, 4), sender: undefined }
      members[0].reports[5] = { ...processed(4, 5), sender: senderOf(recordValue('q', 4)) }
    })
    expect(breaches).toEqual([
      '0: record 7 of p was processed at 2, where record 2 is',
      '0: what nobody sent was processed at 3, where record 3 is',
      '0: record 4 of q was processed at 4, where record 4 is',
    ])
  })

  it('sees two members shown different records at one offset that no acknowledgement tells of', () => {
    const breaches = breachesAfter(({ members }) => {
      const late = (number: number) => ({ ...processed(20, 181), sender: senderOf(recordValue('p', number)) })
      members[0].reports.push(late(20))
      members[1].reports.push(late(21))
    })
    expect(breaches).toEqual(['0: record 21 of p was processed at 20, where record 20 is'])
  })

  it('sees a committed offset go back', () => {
    expect(breachesAfter(({ views }) => views.push(view(220, 19), view(230, 20)))).toEqual([
      '0: offset 19 is committed where 20 was before',
    ])
  })

  it('sees a committed offset vanish', () => {
    expect(breachesAfter(({ views }) => views.push(view(220, -1)))).toEqual([
      '0: offset -1 is committed where 20 was before',
    ])
  })

  it('sees an acknowledged commit lost, though no stranger had seen it', () => {
    expect(breachesAfter(({ members }) => members[0].reports.splice(11, 0, committed(95, 8)))).toEqual([])
    expect(breachesAfter(({ views }) => views.splice(1, 2, view(150, 8)))).toEqual([
      '0: offset 8 is committed where 10 was before',
    ])
  })

  it('sees a commit of what was not processed yet', () => {
    expect(breachesAfter(({ views }) => views.splice(2, 1, view(125, 19)))).toEqual([
      '0: offset 19 is committed, and record 16 not yet processed',
    ])
  })

  it('sees a member begin before what was committed when it came', () => {
    expect(breachesAfter(({ members }) => members[1].reports.splice(1, 0, processed(9, 121)))).toEqual([
      '0: new processed 9, though 10 was committed before it came',
    ])
  })

  it('sees it when the partition comes back to a member that had it before', () => {
    const again = [owns(195, 3, [0]), processed(12, 196)]
    expect(breachesAfter(({ members }) => members[0].reports.push(...again))).toEqual([
      '0: old processed 12, though 20 was committed before it came',
    ])
  })

  it('sees two owners in one generation', () => {
    expect(breachesAfter(({ members }) => members[0].reports.push(owns(130, 2, [1, 0])))).toEqual([
      '0: in generation 2 after 0 restarts both old and new own it',
    ])
  })
})

function owns(atMs: number, generationId: number, partitions: number[]): Ownership {
  return { atMs, kind: 'owns', generationId, partitions }
}

function processed(offset: number, atMs: number): Processed {
  return { atMs, kind: 'processed', partition: 0, offset, sender: senderOf(recordValue('p', offset)) }
}

function run(from: number, to: number, fromMs: number): Processed[] {
  return Array.from({ length: to - from }, (_, index) => processed(from + index, fromMs + index))
}

function committed(atMs: number, offset: number): Committed {
  return { atMs, kind: 'committed', offsets: [[0, offset]] }
}

function view(askedAtMs: number, offset: number) {
  return { askedAtMs, answeredAtMs: askedAtMs + 1, offsets: [offset] }
}

import { describe, expect, it } from 'vitest'
import { nextCursor } from '../../src/durable-streams/cursor.ts'
import { etagOf, isNoneMatchFailed } from '../../src/durable-streams/etag.ts'
import { comparePositions, offsetToken, parseOffsetToken, recordStart } from '../../src/durable-streams/offset-token.ts'

describe('offset tokens', () => {
  it('sort as what they stand for', () => {
    const positions = [0, 1, 9, 10, 12345, Number.MAX_SAFE_INTEGER].flatMap((record) => [
      { record, byte: 0 },
      { record, byte: 7 },
      { record, byte: 1024 },
    ])
    expect(positions.map(offsetToken).toSorted()).toEqual(positions.map(offsetToken))
    expect(positions.toSorted(comparePositions)).toEqual(positions)
    expect(positions.map((position) => parseOffsetToken(offsetToken(position)))).toEqual(positions)
  })

  it.each([
    '',
    '0',
    '-1',
    'now',
    '0000000000000000',
    '0000000000000000_000000000000000',
    '0000000000000000_0000000000000000 ',
    '0000000000000000_0000000000000000\n',
    '9999999999999999_9999999999999999',
    '000000000000000a_0000000000000000',
  ])('are not %j', (text) => expect(parseOffsetToken(text)).toBeNull())
})

describe('entity tags', () => {
  const tag = etagOf('incarnation', recordStart(3), { record: 4, byte: 1 }, false)

  it('tell lives of a name, ranges, and an end from one another', () => {
    expect(tag).toBe('"incarnation:0000000000000003_0000000000000000:0000000000000004_0000000000000001"')
    expect(etagOf('incarnation', recordStart(3), { record: 4, byte: 1 }, true)).not.toBe(tag)
    expect(etagOf('other', recordStart(3), { record: 4, byte: 1 }, false)).not.toBe(tag)
  })

  it('are found in If-None-Match, alone, weak, in a list, and by *', () => {
    for (const header of [tag, `W/${tag}`, `"a", ${tag}`, `"a,b",W/${tag} , "c"`, ' * ']) {
      expect(isNoneMatchFailed(header, tag), header).toBe(true)
    }
    for (const header of [undefined, '', '"a"', tag.slice(1, -1), '"*"']) {
      expect(isNoneMatchFailed(header, tag), header).toBe(false)
    }
  })
})

describe('cursors', () => {
  const nowMs = Date.UTC(2024, 9, 9) + 20_000 * 1000 + 5
  const chances = [0, 0.5, 0.999999]

  it('are the 20 s interval that it is', () => {
    for (const behind of [null, '', '0', '999', '-5', 'x', '9'.repeat(40)]) {
      expect(nextCursor(behind, nowMs, () => 0.5)).toBe('1000')
    }
  })

  it('never stay or go back when the client is there already', () => {
    for (const chance of chances) {
      for (const given of ['1000', '1001', '50000']) {
        const cursor = Number(nextCursor(given, nowMs, () => chance))
        expect(cursor).toBeGreaterThan(Number(given))
        expect(cursor).toBeLessThanOrEqual(Number(given) + 180)
      }
    }
  })
})

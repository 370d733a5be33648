import fc from 'fast-check'
import { expect, test } from 'vitest'
import { serverSentEvents } from '../src/event-stream.ts'

async function parsed(bytes: Uint8Array, cuts: readonly number[] = []): Promise<string[]> {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  async function* chunks() {
    let start = 0
    for (const place of [...places, bytes.length]) {
      yield bytes.subarray(start, place)
      start = place
    }
  }
  const events: string[] = []
  for await (const { event, id, data } of serverSentEvents(chunks())) events.push(`${event}|${id}|${data}`)
  return events
}

test('events have lines, names, ids and comments as WHATWG has them', async () => {
  const text =
    ':hi\n\nevent: a\ndata: one\ndata:two\r\ndata:  three\r\r\nid: 7\ndata\n\nevent:b\n\nid:8\ndata:x\nretry: 5\n\ndata: cut off'
  expect(await parsed(Buffer.from(text))).toEqual(['a|null|one\ntwo\n three', 'message|7|', 'message|8|x'])
})

test('it does not matter where chunks end, be it within CRLF or a character', async () => {
  const line = fc.constantFrom('data:ä€😀', 'data: x', 'id: 3', 'event: e', ':', '', 'data')
  const lineEnd = fc.constantFrom('\n', '\r', '\r\n')
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(line, lineEnd), { maxLength: 30 }),
      fc.array(fc.nat(500)),
      async (lines, cuts) => {
        const bytes = Buffer.from(lines.map(([text, end]) => text + end).join(''))
        expect(await parsed(bytes, cuts)).toEqual(await parsed(bytes))
      },
    ),
  )
})

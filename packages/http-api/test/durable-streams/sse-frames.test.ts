import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { controlFrame, dataFrame } from '../../src/durable-streams/sse-frames.ts'
import { unfinishedBytes } from '../../src/durable-streams/utf8-boundary.ts'

const next = { record: 12, byte: 0 }

/** As WHATWG HTML 9.2.6 reads one event. */
function read(frame: string): { event: string; data: string } {
  const lines = frame.split(/\r\n|\r|\n/)
  const field = (name: string) =>
    lines.filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).replace(/^ /, ''))
  return { event: field('event').at(-1) ?? '', data: field('data').join('\n') }
}

describe('data events', () => {
  it('have the bytes that readers match', () => {
    expect(dataFrame(Buffer.from('hello')).toString()).toBe('event: data\ndata:hello\n\n')
    expect(dataFrame(Buffer.from('a\nb')).toString()).toBe('event: data\ndata:a\ndata:b\n\n')
  })

  it('keep spaces at the beginning of lines', () => {
    expect(read(dataFrame(Buffer.from(' a\n  b')).toString()).data).toBe(' a\n  b')
  })

  it('cannot be left by line ends of any kind', () => {
    const payload = 'a\r\n\r\nevent: control\rdata:{}\n\nb\r'
    const frame = dataFrame(Buffer.from(payload)).toString()
    expect(frame.match(/^event:/gm)).toHaveLength(1)
    expect(read(frame)).toEqual({ event: 'data', data: payload.replaceAll(/\r\n|\r/g, '\n') })
  })

  it('hold any text, with LF for each of its line ends', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\r', '\n', ':', 'é', '😀', '\u2028') })
    fc.assert(
      fc.property(text, (payload) => {
        const frame = dataFrame(Buffer.from(payload)).toString()
        expect(frame.endsWith('\n\n')).toBe(true)
        expect(frame.slice(0, -2)).not.toContain('\n\n')
        expect(read(frame).data).toBe(payload.replaceAll(/\r\n|\r/g, '\n'))
      }),
    )
  })

  it('cost little where everything is a line end', () => {
    expect(dataFrame(Buffer.alloc(1 << 20, '\n')).length).toBe(12 + 6 * ((1 << 20) + 1) + 1)
  })
})

describe('control events', () => {
  it('have the bytes that readers match', () => {
    expect(controlFrame({ next, isUpToDate: false, isEnd: false, cursor: '7' }).toString()).toBe(
      'event: control\ndata:{"streamNextOffset":"0000000000000012_0000000000000000","streamCursor":"7"}\n\n',
    )
    expect(controlFrame({ next, isUpToDate: true, isEnd: false, cursor: '7' }).toString()).toContain('"upToDate":true}')
  })

  it('have no cursor at the end of a stream', () => {
    expect(controlFrame({ next, isUpToDate: true, isEnd: true, cursor: '7' }).toString()).toBe(
      'event: control\ndata:{"streamNextOffset":"0000000000000012_0000000000000000","streamClosed":true,"upToDate":true}\n\n',
    )
  })
})

describe('unfinished characters', () => {
  it('are counted wherever a character is cut', () => {
    for (const character of ['a', 'é', '€', '😀', '\u{10ffff}', '\ud7ff', '\ue000', '\u0800', '\u{10000}']) {
      const bytes = Buffer.from(`x${character}`)
      for (let end = 1; end <= bytes.length; end++) {
        const expected = end === bytes.length ? 0 : end - 1
        expect(unfinishedBytes(bytes.subarray(0, end)), `${character} to ${end}`).toBe(expected)
      }
    }
  })

  it.each(['', '80', '8080', '80808080', 'ff', 'c0', 'f5', 'c080', 'e080', 'eda0', 'f08080', 'f490', 'e28241'])(
    'are not found in %s, which no byte could finish',
    (hex) => expect(unfinishedBytes(Buffer.from(hex, 'hex'))).toBe(0),
  )

  it('leave what decodes as a decoder does that knows what follows', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 6 }), (bytes) => {
        const decoder = new TextDecoder()
        const streamed = decoder.decode(bytes, { stream: true })
        const kept = bytes.subarray(0, bytes.length - unfinishedBytes(bytes))
        expect(new TextDecoder().decode(kept)).toBe(streamed)
      }),
      { numRuns: 3000 },
    )
  })
})

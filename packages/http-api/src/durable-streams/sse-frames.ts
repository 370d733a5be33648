import { offsetToken, type StreamPosition } from './offset-token.ts'

const eventLine = Buffer.from('event: data\n')
const field = Buffer.from('data:')
const [lineFeed, carriageReturn, blank] = [0x0a, 0x0d, 0x20]

/**
 * A `data` event. CR LF, CR and LF all end a line of an event, so each line has its own field, and a reader sees LF for all three. A
 * reader takes one space after the colon away: there is one only where a line begins with a space of its own.
 */
export function dataFrame(payload: Uint8Array): Buffer {
  let frameBytes = eventLine.length + 1
  eachLine(payload, (start, end) => {
    frameBytes += field.length + (payload[start] === blank ? 1 : 0) + (end - start) + 1
  })
  const frame = Buffer.allocUnsafe(frameBytes)
  frame.set(eventLine)
  let at = eventLine.length
  eachLine(payload, (start, end) => {
    frame.set(field, at)
    at += field.length
    if (payload[start] === blank) frame[at++] = blank
    frame.set(payload.subarray(start, end), at)
    at += end - start
    frame[at++] = lineFeed
  })
  frame[at] = lineFeed
  return frame
}

/** Calls back with where each line begins and ends: once for what has no line end in it. */
function eachLine(payload: Uint8Array, visit: (start: number, end: number) => void): void {
  let start = 0
  if (payload.includes(lineFeed) || payload.includes(carriageReturn)) {
    for (let at = 0; at < payload.length; at++) {
      const byte = payload[at]
      if (byte !== lineFeed && byte !== carriageReturn) continue
      visit(start, at)
      if (byte === carriageReturn && payload[at + 1] === lineFeed) at++
      start = at + 1
    }
  }
  visit(start, payload.length)
}

export interface ControlEvent {
  readonly next: StreamPosition
  readonly isUpToDate: boolean
  /** The stream is closed and `next` is its end: there is no cursor, as there is no next request. */
  readonly isEnd: boolean
  readonly cursor: string
}

/** A `control` event: one line of JSON, which readers match without a space after the colon. */
export function controlFrame({ next, isUpToDate, isEnd, cursor }: ControlEvent): Buffer {
  const control = {
    streamNextOffset: offsetToken(next),
    ...(isEnd ? { streamClosed: true } : { streamCursor: cursor }),
    ...(isUpToDate && { upToDate: true }),
  }
  return Buffer.from(`event: control\ndata:${JSON.stringify(control)}\n\n`)
}

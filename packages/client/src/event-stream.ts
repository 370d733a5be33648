import { failureError } from './call-failures.ts'
import { PicoError } from './errors.ts'
import type { Answer, Call } from './transport.ts'

export interface ServerSentEvent {
  /** `message` where the server named none. */
  readonly event: string
  readonly data: string
  /** The last id that was sent, which an event without one of its own keeps. */
  readonly id: string | null
}

/** Longer events are refused: a server that never ends one must not fill our memory. */
const eventCharactersMax = 256 * 1024 * 1024

/** The events of an answer. A body that breaks off is a PicoError; a reader that leaves ends the request. */
export async function* eventsOf(answer: Answer, call: Call): AsyncGenerator<ServerSentEvent, void, undefined> {
  const events = serverSentEvents(answer.body)
  try {
    for (;;) {
      const result = await events.next().catch((cause: unknown) => {
        call.signal?.throwIfAborted()
        throw cause instanceof PicoError ? cause : failureError(cause, `${call.method} ${call.path}`)
      })
      if (result.done === true) return
      yield result.value
    }
  } finally {
    answer.body.destroy()
  }
}

/**
 * Events of a `text/event-stream` body, by the WHATWG algorithm: lines end in CR, LF or CRLF, also when a chunk ends between the two;
 * an event that the body breaks off in is dropped.
 */
export async function* serverSentEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder()
  const parser = new EventParser()
  for await (const chunk of chunks) {
    const events = parser.push(decoder.decode(chunk, { stream: true }))
    yield* events
  }
}

class EventParser {
  /** Of a line that has not ended; pieces, so that a long line in many chunks is joined once. */
  #pieces: string[] = []
  #length = 0
  #endedInCr = false
  #event = ''
  #data: string[] = []
  #id: string | null = null

  push(text: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = []
    let start = this.#endedInCr && text.startsWith('\n') ? 1 : 0
    if (text !== '') this.#endedInCr = false
    let cr = text.indexOf('\r', start)
    for (;;) {
      if (cr !== -1 && cr < start) cr = text.indexOf('\r', start)
      const lf = text.indexOf('\n', start)
      const end = lf === -1 || cr === -1 ? Math.max(lf, cr) : Math.min(lf, cr)
      if (end === -1) break
      const event = this.#line(this.#takeLine(text.slice(start, end)))
      if (event !== null) events.push(event)
      start = end + 1
      if (text[end] === '\r') {
        if (start === text.length) this.#endedInCr = true
        else if (text[start] === '\n') start++
      }
    }
    if (start < text.length) this.#keep(text.slice(start))
    return events
  }

  #keep(piece: string): void {
    this.#pieces.push(piece)
    this.#length += piece.length
    if (this.#length > eventCharactersMax) throw new PicoError('bad_response', 'an event has no end')
  }

  #takeLine(rest: string): string {
    if (this.#pieces.length === 0) return rest
    const line = this.#pieces.join('') + rest
    this.#pieces = []
    return line
  }

  #line(line: string): ServerSentEvent | null {
    if (line === '') return this.#dispatch()
    const colon = line.indexOf(':')
    if (colon === 0) return null // a comment, sent to keep the connection alive
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)
    if (field === 'event') this.#event = value
    else if (field === 'data') {
      this.#data.push(value)
      this.#length += value.length
    } else if (field === 'id' && !value.includes('\0')) this.#id = value
    return null
  }

  #dispatch(): ServerSentEvent | null {
    const event =
      this.#data.length === 0 ? null : { event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id }
    this.#event = ''
    this.#data = []
    this.#length = 0
    return event
  }
}

import { type IncomingMessage, request } from 'node:http'
import { type ControlEvent, controlEventSchema, type JsonReadRecord, jsonReadSchema } from '@pico/http-contract'

export type LiveEvent =
  | { readonly kind: 'data'; readonly id: string; readonly records: JsonReadRecord[] }
  | { readonly kind: 'control'; readonly id: string; readonly control: ControlEvent }

/** A client of `live=sse`, as far as a browser would take what it gets (WHATWG HTML, 9.2.6). */
export class EventReader {
  readonly events: LiveEvent[] = []
  comments = 0
  hasEnded = false
  readonly response: IncomingMessage
  #text = ''

  private constructor(response: IncomingMessage) {
    this.response = response
    response.setEncoding('utf8')
    response.on('data', (text: string) => this.#received(text))
    response.on('close', () => {
      this.hasEnded = true
    })
    response.on('error', () => {})
  }

  static open(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { headers, agent: false }, (response) => resolve(new EventReader(response)))
      sent.on('error', reject)
      sent.end()
    })
  }

  get records(): JsonReadRecord[] {
    return this.events.flatMap((event) => (event.kind === 'data' ? event.records : []))
  }

  get controls(): ControlEvent[] {
    return this.events.flatMap((event) => (event.kind === 'control' ? [event.control] : []))
  }

  close(): void {
    this.response.destroy()
  }

  #received(text: string): void {
    this.#text += text
    for (let end = this.#text.indexOf('\n\n'); end >= 0; end = this.#text.indexOf('\n\n')) {
      this.#event(this.#text.slice(0, end).split('\n'))
      this.#text = this.#text.slice(end + 2)
    }
  }

  #event(lines: readonly string[]): void {
    const fields = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()]),
    )
    const [kind, id = '', data = ''] = [fields.get('event'), fields.get('id'), fields.get('data')]
    if (kind === 'data') this.events.push({ kind, id, records: jsonReadSchema.parse(JSON.parse(data)) })
    else if (kind === 'control') this.events.push({ kind, id, control: controlEventSchema.parse(JSON.parse(data)) })
    else this.comments++
  }
}

import { controlEventSchema, eventNames, jsonReadSchema, recordOfJson } from '@pico/http-contract'
import { PicoError } from './errors.ts'
import { eventsOf, type ServerSentEvent } from './event-stream.ts'
import type { Page } from './pico-stream.ts'
import { StreamRecord } from './record.ts'
import type { Answer, Call } from './transport.ts'

/** The pages of a `live=sse` answer: records as they come, and what control events tell of the tail. */
export async function* eventPages(answer: Answer, call: Call): AsyncGenerator<Page, void, undefined> {
  for await (const event of eventsOf(answer, call)) {
    const page = pageOf(event)
    if (page !== null) yield page
  }
}

/** Null for events that a later server may send. @throws PicoError 'bad_response' */
function pageOf({ event, data, id }: ServerSentEvent): Page | null {
  if (event === eventNames.control) {
    const { next_seq, up_to_date, closed } = checked(controlEventSchema.safeParse(parsed(data)))
    return { records: [], next: next_seq, upToDate: up_to_date, closed: closed === true, empty: true }
  }
  if (event !== eventNames.data) return null
  const records = checked(jsonReadSchema.safeParse(parsed(data))).map((record) => {
    const bytes = recordOfJson(record)
    if (bytes === null) throw new PicoError('bad_response', `record ${record.seq} came in base64 that is none`)
    return new StreamRecord(bytes)
  })
  const next = Number(id)
  if (id === null || !Number.isSafeInteger(next)) throw new PicoError('bad_response', `an event came with id ${id}`)
  return { records, next, upToDate: false, closed: false, empty: records.length === 0 }
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new PicoError('bad_response', 'an event came that is no JSON', { cause })
  }
}

type Parsed<T> = { success: true; data: T } | { success: false; error: { message: string } }

function checked<T>(result: Parsed<T>): T {
  if (!result.success)
    throw new PicoError('bad_response', `an event came that is not as the protocol has it: ${result.error.message}`)
  return result.data
}

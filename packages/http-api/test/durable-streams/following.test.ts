import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controlsOf, openTestServer, readEvents, type TestServer } from './server.ts'

let server: TestServer
beforeAll(async () => {
  server = await openTestServer({ longPollTimeoutMs: 200, eventBytes: 64, catchUpBytes: 64 })
})
afterAll(async () => {
  await server.close()
  expect(server.complaints).toEqual([])
})

const start = '-1'
let streams = 0

/** Connects again and again, each time for as many events as `patience` says in turn, from the offset of the last control event. */
async function followEvents(path: string, patience: readonly number[]): Promise<string[]> {
  const data: string[] = []
  for (let offset = start, turn = 0; ; turn++) {
    const wanted = patience[turn % patience.length] ?? 1
    const response = await server.request('GET', `${path}?offset=${offset}&live=sse`)
    expect(response.status).toBe(200)
    const events = await readEvents(response, (seen) => controlsOf(seen).length >= wanted)
    let pending: string[] = []
    for (const event of events) {
      if (event.event === 'data') pending.push(event.data)
      if (event.event !== 'control') continue
      // What comes without its control event is not taken: it comes again.
      const [control] = controlsOf([event])
      data.push(...pending)
      pending = []
      offset = control?.streamNextOffset ?? offset
      if (control?.streamClosed === true) return data
    }
  }
}

async function followPolls(path: string): Promise<Buffer[]> {
  const bodies: Buffer[] = []
  for (let offset = start; ; ) {
    const response = await server.request('GET', `${path}?offset=${offset}&live=long-poll`)
    expect([200, 204]).toContain(response.status)
    bodies.push(Buffer.from(await response.arrayBuffer()))
    offset = response.headers.get('stream-next-offset') ?? ''
    if (response.headers.get('stream-closed') === 'true') return bodies
  }
}

/** Cuts `whole` at these places, wherever they are in a character. */
function cut(whole: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => place % (whole.length + 1)))].toSorted((a, b) => a - b)
  return [0, ...ends]
    .map((from, index) => whole.subarray(from, ends[index] ?? whole.length))
    .filter(({ length }) => length > 0)
}

const patienceArbitrary = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 })

describe('who follows a stream, and comes back whenever the connection ends', () => {
  it('has every character of a text once, and in order', { timeout: 60_000 }, async () => {
    const text = fc.string({
      unit: fc.constantFrom('a', ' ', 'é', '€', '😀', '\n', '\u0000'),
      minLength: 1,
      maxLength: 60,
    })
    const places = fc.array(fc.nat(), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(text, places, patienceArbitrary, fc.boolean(), async (whole, cuts, patience, closesWithData) => {
        const path = `/follow/text/${streams++}`
        const type = { 'Content-Type': 'text/plain' }
        await server.request('PUT', path, type)
        const following = Promise.all([followEvents(path, patience), followPolls(path)])
        const parts = cut(Buffer.from(whole), cuts)
        for (const [index, part] of parts.entries()) {
          const isLast = closesWithData && index === parts.length - 1
          await server.request('POST', path, { ...type, ...(isLast && { 'Stream-Closed': 'true' }) }, part)
        }
        if (!closesWithData) await server.request('POST', path, { 'Stream-Closed': 'true' })
        const [events, polls] = await following
        expect(events.join('')).toBe(whole)
        expect(Buffer.concat(polls).toString()).toBe(whole)
      }),
      { numRuns: 20, interruptAfterTimeLimit: 20_000 },
    )
  })

  it('has every message of JSON once, and in order', { timeout: 60_000 }, async () => {
    const requests = fc.array(fc.array(fc.jsonValue(), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(requests, patienceArbitrary, async (arrays, patience) => {
        const path = `/follow/json/${streams++}`
        const type = { 'Content-Type': 'application/json' }
        await server.request('PUT', path, type)
        const following = Promise.all([followEvents(path, patience), followPolls(path)])
        for (const messages of arrays) await server.request('POST', path, type, JSON.stringify(messages))
        await server.request('POST', path, { 'Stream-Closed': 'true' })
        const [events, polls] = await following
        const expected = JSON.parse(JSON.stringify(arrays.flat())) as unknown
        expect(events.flatMap((event) => JSON.parse(event) as unknown[])).toEqual(expected)
        const polled = polls
          .filter(({ length }) => length > 0)
          .flatMap((body) => JSON.parse(body.toString()) as unknown[])
        expect(polled).toEqual(expected)
      }),
      { numRuns: 12, interruptAfterTimeLimit: 20_000 },
    )
  })
})

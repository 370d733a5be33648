import { expect } from 'vitest'
import { connectRaw } from '../raw-kafka.ts'
import { contentOf, type StoredRecord } from './cross-record.ts'
import type { CrossStream, Doors } from './cross-stream.ts'
import { dsContent, readAllOverDs } from './ds-door.ts'
import { fetchAll } from './kafka-door.ts'
import { readAllOverPico, readRawOverPico } from './pico-door.ts'
import type { Seeded } from './seeded.ts'

/** Reads a whole stream over all three protocols, expects them to tell the same, and returns it. */
export async function readEverywhere(doors: Doors, stream: CrossStream, random: Seeded): Promise<StoredRecord[]> {
  const { path, topic, kind } = stream
  const log = await readAllOverPico(doors.picoUrl, path, random)
  expect(
    log.map(({ offset }) => offset),
    `${path}: offsets`,
  ).toEqual(log.map((_, index) => index))
  if (topic !== null) {
    const connection = await connectRaw(doors.kafkaPort)
    const fetched = await fetchAll(connection, topic, random.one([1, 10_000, 1 << 20])).finally(() =>
      connection.close(),
    )
    expect(fetched.map(lineOf), `${path}: over Kafka`).toEqual(log.map(lineOf))
  }
  const bodies = Buffer.concat(log.map(({ value }) => value ?? Buffer.alloc(0)))
  expectSame(await readRawOverPico(doors.picoUrl, path), bodies, `${path}: raw bodies`)
  // From each offset on there is what comes after it: so Durable Streams has the same records under the same numbers.
  for (const from of [0, log.length, ...Array.from({ length: 8 }, () => random.whole(0, log.length))]) {
    const content = await readAllOverDs(doors.dsUrl, path, kind, from)
    expectSame(content, dsContent(log.slice(from), kind), `${path}: over Durable Streams, from ${from}`)
  }
  return log
}

export function lineOf(record: StoredRecord): string {
  return `${record.offset} ${record.timestampMs} ${contentOf(record)}`
}

/** A failure shows the bytes around the first difference, not megabytes. */
function expectSame(got: Buffer, wanted: Buffer, what: string): void {
  if (got.equals(wanted)) return
  let at = 0
  while (at < wanted.length && got[at] === wanted[at]) at++
  const around = (bytes: Buffer) => bytes.subarray(Math.max(0, at - 40), at + 40).toString('latin1')
  expect({ bytes: got.length, around: around(got) }, `${what}, at byte ${at}`).toEqual({
    bytes: wanted.length,
    around: around(wanted),
  })
}

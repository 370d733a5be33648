import { setTimeout as sleep } from 'node:timers/promises'
import { newProducerId } from '../durability/producer.ts'
import { ConnectionLostError, connectRaw, type RawConnection } from '../raw-kafka.ts'
import { KafkaRefusal } from '../raw-topics.ts'
import type { Attempt, Outcome } from './attempts.ts'
import { type CrossRecord, contentTypes, kafkaRecord, plainRecord } from './cross-record.ts'
import type { CrossStream, Doors } from './cross-stream.ts'
import { type HttpAnswer, httpCall, numberIn } from './http-call.ts'
import { batchCodecs, produceBatch } from './kafka-door.ts'
import { type PicoShape, picoBody } from './pico-door.ts'
import type { Seeded } from './seeded.ts'

/** Appends to one stream through one door, one request after the other, until it is told to stop; what it knows goes to the stream's attempts. */
export interface Writer {
  readonly stream: CrossStream
  readonly doors: Doors
  readonly random: Seeded
  /** In every record that it writes, with the number of the request. */
  readonly name: string
  readonly stopping: () => boolean
}

/** How long an idempotent producer tries, restarts of the server included. */
const retryMs = 60_000

export async function writeOverKafka({ stream, doors, random, name, stopping }: Writer): Promise<void> {
  const { topic } = stream
  if (topic === null) return
  const idempotent = random.chance(0.5)
  let connection: RawConnection | undefined
  let baseSequence = 0
  const producerId = idempotent ? await untilAnswered(() => newProducerId(() => connectRaw(doors.kafkaPort))) : -1n
  for (let n = 0; !stopping(); n++) {
    // Of batches in the future, which HTTP then has to keep up with, there are few.
    const nowMs = Date.now() + (random.chance(0.02) ? random.whole(0, 5000) : -random.whole(0, 86_400_000))
    const records = listOf(random.one([1, 1, 3, 20]), (index) =>
      kafkaRecord(random, `${name}.${n}.${index}`, nowMs + random.whole(-1000, 1000)),
    )
    const codec = random.one(batchCodecs)
    const stamp = idempotent ? { stamp: { producerId, baseSequence } } : {}
    const produce = async (): Promise<Outcome> => {
      try {
        connection ??= await connectRaw(doors.kafkaPort)
        return { kind: 'kept', baseOffset: await produceBatch(connection, { topic, records, codec, ...stamp }) }
      } catch (error) {
        const isPassing = error instanceof ConnectionLostError || (error instanceof KafkaRefusal && error.isRetriable)
        if (!isPassing) throw error
        connection?.close()
        connection = undefined
        return { kind: 'unknown' }
      }
    }
    const what = `${name}.${n}, ${records.length} in ${codec}`
    await attempt(stream, { what, records, raisesTimestamps: false, repeats: idempotent }, produce)
    baseSequence += records.length
    await sleep(random.whole(0, 15))
  }
  connection?.close()
}

export async function writeOverPico({ stream, doors, random, name, stopping }: Writer): Promise<void> {
  let sequence = 0
  for (let n = 0; !stopping(); n++) {
    const shape = random.one<PicoShape>(['one record', 'json batch', 'binary batch 1', 'binary batch 2'])
    const count = shape === 'one record' ? 1 : random.one([1, 2, 5, 30])
    const records = listOf(count, (index) => recordOfShape(random, shape, `${name}.${n}.${index}`))
    const { type, body } = picoBody(shape, records)
    const repeats = random.chance(0.4)
    const headers: Record<string, string> = { 'Content-Type': type }
    if (repeats) {
      Object.assign(headers, { 'Pico-Producer-Id': name, 'Pico-Producer-Epoch': '0' })
      headers['Pico-Producer-Seq'] = String(sequence)
      sequence += count
    } else if (random.chance(0.2)) {
      headers['Pico-Match-Seq'] = String(await untilAnswered(() => tailOf(doors, stream)))
    }
    const append = async (): Promise<Outcome> => {
      const answer = await answerOf(doors.picoUrl, stream, headers, body)
      if (answer === null) return { kind: 'unknown' }
      if (answer.status === 200) {
        // Of a repeat, too, as long as the first one is remembered.
        const isTold = answer.headers['pico-start-seq'] !== undefined
        return { kind: 'kept', baseOffset: isTold ? numberIn(answer, 'pico-start-seq') : null }
      }
      if (answer.status === 412 && headers['Pico-Match-Seq'] !== undefined) return { kind: 'refused' }
      return refusedIfUnavailable(answer)
    }
    const what = `${name}.${n}, ${shape} of ${count}${repeats ? ' of a producer' : ''}`
    await attempt(stream, { what, records, raisesTimestamps: true, repeats }, append)
    await sleep(random.whole(0, 15))
  }
}

export async function writeOverDs({ stream, doors, random, name, stopping }: Writer): Promise<void> {
  const { kind } = stream
  let sequence = 0
  for (let n = 0; !stopping(); n++) {
    const count = kind === 'json' ? random.one([1, 2, 5, 30]) : 1
    const records = listOf(count, (index) => plainRecord(random, `${name}.${n}.${index}`, kind))
    const repeats = random.chance(0.5)
    const headers: Record<string, string> = { 'Content-Type': contentTypes[kind] }
    if (repeats) {
      Object.assign(headers, { 'Producer-Id': name, 'Producer-Epoch': '0', 'Producer-Seq': String(sequence++) })
    } else if (random.chance(0.3)) {
      headers['Stream-Seq'] = String(n).padStart(8, '0')
    }
    const append = async (): Promise<Outcome> => {
      const answer = await answerOf(doors.dsUrl, stream, headers, dsBody(random, records, kind === 'json'))
      if (answer === null) return { kind: 'unknown' }
      if (answer.status === (repeats ? 200 : 204)) {
        return { kind: 'kept', baseOffset: numberIn(answer, 'stream-next-offset') - count }
      }
      if (repeats && answer.status === 204) return { kind: 'kept', baseOffset: null }
      return refusedIfUnavailable(answer)
    }
    const what = `${name}.${n}, ${count} over Durable Streams${repeats ? ' of a producer' : ''}`
    await attempt(stream, { what, records, raisesTimestamps: true, repeats }, append)
    await sleep(random.whole(0, 15))
  }
}

/** Makes a stream by a PUT, which may be repeated: with its first records, which are there when it is. */
export async function createOverHttp(url: string, stream: CrossStream, random: Seeded, name: string): Promise<void> {
  const first = plainRecord(random, `${name}.first`, stream.kind)
  const records = random.chance(0.5) ? [first] : []
  const headers = { 'Content-Type': contentTypes[stream.kind] }
  const create = async (): Promise<Outcome> => {
    const answer = await unlessLost(() =>
      httpCall(url, { method: 'PUT', target: stream.path, headers, body: records[0]?.value ?? '' }),
    )
    if (answer?.status === 201 || answer?.status === 200) return { kind: 'kept', baseOffset: 0 }
    return answer === null ? { kind: 'unknown' } : refusedIfUnavailable(answer)
  }
  await attempt(stream, { what: `${name} creates`, records, raisesTimestamps: true, repeats: true }, create)
}

interface Wanted extends Pick<Attempt, 'what' | 'records' | 'raisesTimestamps'> {
  /** Until it is known to be kept: a repetition is recognised. */
  readonly repeats: boolean
}

async function attempt(stream: CrossStream, wanted: Wanted, send: () => Promise<Outcome>): Promise<void> {
  const { repeats, ...what } = wanted
  const made: Attempt = { ...what, sentMs: Date.now(), answeredMs: 0, outcome: { kind: 'unknown' } }
  stream.attempts.push(made)
  for (;;) {
    made.outcome = await send()
    made.answeredMs = Date.now()
    if (made.outcome.kind === 'kept') return
    if (made.outcome.kind === 'unknown' || repeats) await sleep(50)
    if (!repeats) return
    if (Date.now() > made.sentMs + retryMs) throw new Error(`${made.what}: not kept in ${retryMs} ms`)
  }
}

function listOf<T>(count: number, item: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => item(index))
}

/** Of a batch, whatever its shape can say. */
function recordOfShape(random: Seeded, shape: PicoShape, id: string): CrossRecord {
  if (shape === 'one record') return plainRecord(random, id, random.one(['text', 'json', 'binary']))
  const timestampMs = random.chance(0.3) ? Date.now() - random.whole(0, 86_400_000) : null
  const record = kafkaRecord(random, id, timestampMs)
  if (shape !== 'binary batch 1') return record
  const { value, headers } = record
  return {
    key: null,
    value: value ?? Buffer.from(id),
    headers: headers.filter(([, content]) => content !== null),
    timestampMs: null,
  }
}

/** Messages of a JSON stream as one text: an array, or one alone; with white space that is nobody's. */
function dsBody(random: Seeded, records: readonly CrossRecord[], isJson: boolean): Buffer {
  const [first] = records
  if (!isJson) return first?.value ?? Buffer.alloc(0)
  const texts = records.map(({ value }) => value?.toString() ?? '')
  return Buffer.from(records.length === 1 && random.chance(0.5) ? `${texts[0]}\n` : `[ ${texts.join(' , ')} ]`)
}

async function tailOf(doors: Doors, { path }: CrossStream): Promise<number> {
  const answer = await httpCall(doors.picoUrl, { method: 'HEAD', target: path })
  if (answer.status !== 200) throw new ConnectionLostError(`HEAD ${path}: ${answer.status}`)
  return numberIn(answer, 'pico-next-seq')
}

function answerOf(url: string, { path }: CrossStream, headers: Readonly<Record<string, string>>, body: Buffer) {
  return unlessLost(() => httpCall(url, { method: 'POST', target: path, headers, body }))
}

/** 503 says that nothing was written. Nothing else may come in the way of what is right. */
function refusedIfUnavailable(answer: HttpAnswer): Outcome {
  if (answer.status === 503) return { kind: 'refused' }
  throw new Error(`an append was answered ${answer.status} ${answer.body}`)
}

async function unlessLost<T>(call: () => Promise<T>): Promise<T | null> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof ConnectionLostError) return null
    throw error
  }
}

export async function untilAnswered<T extends {}>(call: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + retryMs; ; ) {
    const answer = await unlessLost(call)
    if (answer !== null) return answer
    if (Date.now() > deadline) throw new Error(`no answer in ${retryMs} ms`)
    await sleep(50)
  }
}

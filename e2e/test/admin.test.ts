import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import kafkajs, { type Consumer } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { problemsByOpenApi } from '../src/admin/openapi.ts'
import { sampleValue, scrape, seriesOf } from '../src/admin/prometheus.ts'
import { kafkaJs } from '../src/clients/kafkajs.ts'
import { cliOf, type PicoServer, startPico } from '../src/pico.ts'
import { missing, pythonTools } from '../src/toolchain.ts'

let pico: PicoServer
beforeAll(async () => {
  pico = await startPico({ flags: ['--kafka-group-initial-rebalance-delay-ms', '0'] })
})
afterAll(() => pico?.close())

interface Answer<T> {
  readonly status: number
  readonly body: T
}

async function get<T>(path: string): Promise<Answer<T>> {
  const answer = await fetch(pico.adminUrl + path)
  return { status: answer.status, body: (await answer.json()) as T }
}

async function put(stream: string): Promise<void> {
  const { status } = await fetch(`${pico.httpUrl}/${stream}`, { method: 'PUT' })
  expect(status).toBe(201)
}

describe.skipIf(await missing(pythonTools))('metrics', () => {
  it('are what a Prometheus parser reads, and tell what clients did', async () => {
    const records = Array.from({ length: 20 }, (_, at) => ({ key: null, value: Buffer.from(`${at}`), headers: [] }))
    await kafkaJs.write(pico.bootstrap, 'measured', records, { codec: 'none', acks: 'all', idempotence: false })
    await put('measured-too')
    for (let at = 0; at < 3; at++) {
      const answer = await fetch(`${pico.httpUrl}/measured-too`, { method: 'POST', body: 'x' })
      expect(answer.status).toBe(200)
    }
    expect((await fetch(`${pico.httpUrl}/nothing`)).status).toBe(404)
    const events = await fetch(`${pico.httpUrl}/measured-too?live=sse`)

    const families = await scrape(pico.adminUrl)
    expect(families.length).toBeGreaterThan(30)
    expect(families.filter(({ help, type }) => help === '' || type === 'unknown')).toEqual([])
    expect(families.find(({ name }) => name === 'pico_http_request_duration_seconds')?.type).toBe('histogram')
    const latency = 'pico_kafka_request_duration_seconds'
    const answered = sampleValue(families, `${latency}_count`, { api: 'Produce' })
    expect(answered).toBeGreaterThanOrEqual(1)
    expect(sampleValue(families, `${latency}_bucket`, { api: 'Produce', le: '+Inf' })).toBe(answered)
    expect(sampleValue(families, `${latency}_sum`, { api: 'Produce' })).toBeGreaterThan(0)
    const requests = (route: string, status: string) =>
      sampleValue(families, 'pico_http_requests_total', { protocol: 'pico', route, status })
    expect([requests('append', '2xx'), requests('create', '2xx'), requests('read', '4xx')]).toEqual([3, 1, 1])
    expect(sampleValue(families, 'pico_http_live_readers', { protocol: 'pico', kind: 'sse' })).toBe(1)
    expect(sampleValue(families, 'pico_log_flushed_bytes_total')).toBeGreaterThan(200)
    expect(sampleValue(families, 'pico_log_flushes_total')).toBeGreaterThanOrEqual(4)
    expect(sampleValue(families, 'pico_log_flush_failures_total')).toBe(0)
    expect(sampleValue(families, 'pico_serving')).toBe(1)
    expect(sampleValue(families, 'process_resident_memory_bytes')).toBeGreaterThan(1 << 20)

    await events.body?.cancel()
    await vi.waitFor(
      async () => expect(sampleValue(await scrape(pico.adminUrl), 'pico_http_live_readers', { kind: 'sse' })).toBe(0),
      { timeout: 10_000, interval: 200 },
    )
  })

  it('have no line more when there are more streams, topics and groups', async () => {
    const before = seriesOf(await scrape(pico.adminUrl))
    const touch = async (at: number) => {
      await put(`many/${at}`)
      await fetch(`${pico.httpUrl}/many/${at}`, { method: 'POST', body: 'x' })
    }
    await Promise.all(Array.from({ length: 100 }, (_, at) => touch(at)))
    expect(seriesOf(await scrape(pico.adminUrl))).toEqual(before)
  })
})

describe('the admin API', () => {
  it('lists what Kafka clients made like what HTTP made', async () => {
    await put('listed/by-http')
    await kafkaJs.write(pico.bootstrap, 'listed.by-kafka', [{ key: null, value: Buffer.from('x'), headers: [] }], {
      codec: 'none',
      acks: 'all',
      idempotence: false,
    })
    const { body } = await get<{ streams: { name: string; topic: string; endOffset: number }[] }>(
      '/admin/streams?prefix=/listed',
    )
    expect(await problemsByOpenApi(pico.adminUrl, '/admin/streams', body)).toBeNull()
    const records = await (await fetch(`${pico.httpUrl}/listed.by-kafka`)).json()
    expect(records).toMatchObject([{ seq: 0, body: 'x' }])
    expect(await problemsByOpenApi(pico.adminUrl, '/{stream}', records)).toBeNull()
    expect(body.streams.map(({ name, topic, endOffset }) => [name, topic, endOffset])).toEqual([
      ['/listed.by-kafka', 'listed.by-kafka', 1],
      ['/listed/by-http', 'listed.by-http', 0],
    ])
  })

  it('shows a consumer group with what its member was given, what it committed, and how far behind it is', async () => {
    const topic = 'grouped'
    const records = Array.from({ length: 10 }, (_, at) => ({ key: null, value: Buffer.from(`${at}`), headers: [] }))
    await kafkaJs.write(pico.bootstrap, topic, records, { codec: 'none', acks: 'all', idempotence: false })
    const consumer = await consume(topic, 'billing/eu', 10)
    await consumer.commitOffsets([{ topic, partition: 0, offset: '7', metadata: 'seven' }])

    const path = `/admin/groups/${encodeURIComponent('billing/eu')}`
    expect(await get(path)).toMatchObject({
      status: 200,
      body: {
        groupId: 'billing/eu',
        state: 'Stable',
        protocolType: 'consumer',
        protocolName: 'RoundRobinAssigner',
        members: [{ clientId: 'e2e-admin', groupInstanceId: null, assignment: [{ topic, partitions: [0] }] }],
        offsets: [{ topic, partition: 0, committedOffset: 7, metadata: 'seven', endOffset: 10, lag: 3 }],
        totalLag: 3,
      },
    })
    expect(await problemsByOpenApi(pico.adminUrl, '/admin/groups/{id}', (await get(path)).body)).toBeNull()
    const listed = await get<{ groups: { groupId: string }[] }>('/admin/groups')
    expect(await problemsByOpenApi(pico.adminUrl, '/admin/groups', listed.body)).toBeNull()
    expect(listed.body.groups.find(({ groupId }) => groupId === 'billing/eu')).toMatchObject({
      state: 'Stable',
      protocolType: 'consumer',
      problem: null,
    })
    const shown = await cli('admin', 'group', 'billing/eu')
    expect(shown).toMatch(/^state +Stable$/m)
    expect(shown).toMatch(/^ +0 +7 +10 +3 {2}grouped$/m)
    expect(await cli('admin', 'groups')).toMatch(/^Stable +consumer +billing\/eu$/m)

    await consumer.disconnect()
    await vi.waitFor(async () =>
      expect((await get(path)).body).toMatchObject({ state: 'Empty', members: [], totalLag: 3 }),
    )
    await pico.restart()
    expect(JSON.parse(await cli('admin', 'group', 'billing/eu', '--json'))).toMatchObject({
      state: 'Empty',
      totalLag: 3,
    })
  })

  it('says that there is no such group, and makes none of it', async () => {
    const answer = await get<{ error: string }>('/admin/groups/nobody')
    expect(answer).toMatchObject({ status: 404, body: { error: 'not_found' } })
    expect((await get<{ groups: { groupId: string }[] }>('/admin/groups')).body.groups).not.toContainEqual(
      expect.objectContaining({ groupId: 'nobody' }),
    )
  })
})

/** A member that has read `count` records, and commits nothing by itself. */
async function consume(topic: string, groupId: string, count: number): Promise<Consumer> {
  const { Kafka, logLevel } = kafkajs
  const kafka = new Kafka({ brokers: [pico.bootstrap], clientId: 'e2e-admin', logLevel: logLevel.NOTHING })
  const consumer = kafka.consumer({ groupId })
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  let seen = 0
  await consumer.run({
    autoCommit: false,
    eachMessage: async () => {
      seen++
    },
  })
  await vi.waitFor(() => expect(seen).toBe(count), { timeout: 30_000 })
  return consumer
}

async function cli(...args: string[]): Promise<string> {
  const argv = [...cliOf(), ...args, '--admin-endpoint', pico.adminUrl]
  const { stdout } = await promisify(execFile)(process.execPath, argv, { encoding: 'utf8' })
  return stdout
}

import { setTimeout as sleep } from 'node:timers/promises'
import { type AdminRoute, adminRoutes } from '@pico/http-contract'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AdminSystem } from './admin-system.ts'

/** The machine may be busy with other things. */
const patient = { timeout: 10_000, interval: 50 }

let system: AdminSystem
beforeEach(async () => {
  system = await AdminSystem.listen()
})
afterEach(async () => {
  await system.close()
  expect(system.errors).toEqual([])
})

describe('a server that starts', () => {
  it('is healthy and not ready, and says so of whatever else is asked', async () => {
    expect(await system.get('/health')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await system.get('/ready')).toMatchObject({
      status: 503,
      body: { ready: false, checks: [{ name: 'serving', ok: false, problem: 'starting' }] },
    })
    const answer = await system.get('/admin/streams')
    expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable', message: 'the server is starting' } })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect((await system.get('/metrics')).body).toContain('pico_serving 0')
  })
})

describe('readiness', () => {
  beforeEach(() => system.start())

  it('is what the server and its dependences say, by name', async () => {
    let problem: string | null = null
    system.readiness.watch({
      name: 'storage',
      run: async () => {
        if (problem !== null) throw new Error(problem)
      },
    })
    expect(await system.get('/ready')).toMatchObject({ status: 200, body: { ready: true } })
    problem = 'the disk is on fire'
    await vi.waitFor(async () => {
      expect(await system.get('/ready')).toMatchObject({
        status: 503,
        body: {
          ready: false,
          checks: [
            { name: 'serving', ok: true, problem: null },
            { name: 'storage', ok: false, problem },
          ],
        },
      })
    }, patient)
    problem = null
    await vi.waitFor(async () => expect((await system.get('/ready')).status).toBe(200), patient)
  })

  it('gives a probe up that does not answer, asks it no more until it does, and then believes it again', async () => {
    let asked = 0
    let answer: () => void = () => undefined
    system.readiness.watch({
      name: 'metadata',
      run: () => {
        asked++
        return new Promise((resolve) => {
          answer = resolve
        })
      },
    })
    const problem = 'no answer within 200 ms'
    const beganMs = performance.now()
    expect(await system.get('/ready')).toMatchObject({
      status: 503,
      body: { checks: [{}, { name: 'metadata', ok: false, problem }] },
    })
    expect(performance.now() - beganMs).toBeLessThan(5000)
    await sleep(100)
    expect((await system.get('/ready')).status).toBe(503)
    expect(asked).toBe(1)
    answer()
    await vi.waitFor(async () => {
      const asking = system.get('/ready')
      await sleep(20)
      answer()
      expect((await asking).status).toBe(200)
    }, patient)
    expect(asked).toBeGreaterThan(1)
  })

  it('asks a probe once at a time, however many want to know', async () => {
    let asked = 0
    let running = 0
    let runningMost = 0
    system.readiness.watch({
      name: 'storage',
      run: async () => {
        asked++
        runningMost = Math.max(runningMost, ++running)
        await sleep(20)
        running--
      },
    })
    const answers = await Promise.all(Array.from({ length: 50 }, () => system.get('/ready')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(runningMost).toBe(1)
    expect(asked).toBeLessThan(50)
  })

  it('fails while draining, and for good once fenced', async () => {
    system.readiness.become('draining')
    expect((await system.get('/ready')).body.checks[0].problem).toMatch(/^draining/)
    expect((await system.get('/health')).status).toBe(200)
    system.readiness.become('fenced')
    system.readiness.become('serving')
    expect((await system.get('/ready')).body.checks[0].problem).toMatch(/^fenced/)
  })
})

describe('streams', () => {
  beforeEach(() => system.start())

  it('are described, those of Kafka like those of HTTP', async () => {
    await system.createTopic('orders')
    await system.append('orders', 3)
    await system.createStream('/notes/été', { contentType: 'text/markdown', ttlSeconds: 60 })
    const kafka = await system.get('/admin/streams/orders')
    expect(kafka).toMatchObject({
      status: 200,
      body: {
        name: '/orders',
        topic: 'orders',
        ownerNodeId: 1,
        ownerLocal: true,
        ownerAdvertisedAddress: 'http://127.0.0.1:4437',
        contentType: 'application/octet-stream',
        ttlSeconds: null,
        expiresAtMs: null,
        idleTtlSeconds: null,
        closed: false,
        state: 'assigned',
        epoch: 1,
        startOffset: 0,
        endOffset: 3,
        pendingTransfer: null,
      },
    })
    expect(kafka.body.bytes).toBeGreaterThan(0)
    const encoded = await system.get(`/admin/streams/${encodeURIComponent('/notes/été')}`)
    expect(encoded).toMatchObject({
      status: 200,
      body: { name: '/notes/été', topic: null, contentType: 'text/markdown', ttlSeconds: 60, endOffset: 0 },
    })
    expect((await system.get('/admin/streams/notes/%C3%A9t%C3%A9')).body).toEqual(encoded.body)
  })

  it('are listed in the order of their names, a page at a time, each once', async () => {
    const names = Array.from({ length: 25 }, (_, at) => `/page/${String.fromCharCode(97 + at)}`)
    for (const name of [...names].reverse()) await system.createStream(name)
    await system.createTopic('zebra')
    const seen: string[] = []
    let query = ''
    for (let pages = 0; pages < 10; pages++) {
      const { body } = await system.get(`/admin/streams?prefix=/page/&limit=10${query}`)
      seen.push(...body.streams.map(({ name }: { name: string }) => name))
      expect(body.hasMore).toBe(body.next !== null)
      if (!body.hasMore) break
      query = `&start_after=${encodeURIComponent(body.next)}`
    }
    expect(seen).toEqual(names)
    const all = await system.get('/admin/streams')
    expect(all.body.streams.map(({ name }: { name: string }) => name)).toEqual([...names, '/zebra'])
    expect(all.body).toMatchObject({ hasMore: false, next: null })
  })

  it('of the longest name there can be are found', async () => {
    const name = `/${'ü'.repeat(511)}x`
    await system.createStream(name)
    expect((await system.get(`/admin/streams/${encodeURIComponent(name)}`)).body.name).toBe(name)
  })

  it.each([
    ['/admin/streams/nothing', 404, 'not_found', /there is no stream \/nothing/],
    ['/admin/streams/a//b', 400, 'bad_request', /empty segment/],
    ['/admin/streams/', 400, 'bad_request', /empty segment/],
    ['/admin/streams/%ff', 400, 'bad_request', /percent-encoded|valid/],
    ['/admin/streams/a%2F..%2Fb', 400, 'bad_request', /segment "\.\."/],
    ['/admin/streams?limit=0', 400, 'bad_request', /limit/],
    ['/admin/streams?limit=1001', 400, 'bad_request', /limit/],
    ['/admin/streams?limit=x', 400, 'bad_request', /limit/],
    ['/admin/groups', 404, 'not_found', /--no-kafka/],
    ['/admin/groups/billing', 404, 'not_found', /--no-kafka/],
    ['/admin/tokens', 404, 'not_found', /./],
    ['/', 404, 'not_found', /./],
  ] as const)('%s is refused with %i %s', async (path, status, error, message) => {
    const answer = await system.get(path)
    expect(answer).toMatchObject({ status, body: { error, message: expect.stringMatching(message) } })
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })

  it('the cluster and its nodes are what the database says', async () => {
    await system.createTopic('orders')
    expect((await system.get('/admin/cluster')).body).toMatchObject({
      clusterId: 'test',
      nodeId: 1,
      registered: true,
      streamCount: 1,
      pendingTransfers: [],
      morePendingTransfers: false,
    })
    expect((await system.get('/admin/nodes')).body.nodes).toMatchObject([
      { nodeId: 1, local: true, fenced: false, silentMs: null },
    ])
  })

  it('the maintenance is done by this node, which has the database for itself, unless another one has the lease', async () => {
    const { nodes, leases } = system.metadata
    const holderNow = async () => (await system.get('/admin/cluster')).body.leaseHolder
    expect([await leases.holder('maintenance'), await holderNow()]).toEqual([null, 1])
    const two = await nodes.register({ nodeId: 2, addresses: {}, slots: 1 }, Date.now())
    expect(await leases.acquire('maintenance', two, 60_000)).toBe(true)
    expect(await holderNow()).toBe(2)
  })

  it('what shows something takes GET and HEAD alone, what changes something POST', async () => {
    expect(await system.get('/admin/cluster', 'HEAD')).toMatchObject({ status: 200, body: '' })
    for (const { path, method } of Object.values<AdminRoute>(adminRoutes)) {
      const allowed = method === 'post' ? ['POST'] : ['GET', 'HEAD']
      for (const wrong of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((one) => !allowed.includes(one))) {
        const answer = await system.get(path.replace(/\{\w+\}/, '1'), wrong)
        expect([path, wrong, answer.status, answer.body.error]).toEqual([path, wrong, 405, 'method_not_allowed'])
        expect(answer.headers.get('allow')).toBe(allowed.join(', '))
      }
    }
    expect(await system.get('/admin/transfer', 'HEAD')).toMatchObject({ status: 405, body: '' })
  })
})

describe('metrics', () => {
  beforeEach(() => system.start())

  it('tell what went through Kafka, HTTP and the log, with no label that grows with streams', async () => {
    const { kafka } = system.metrics
    kafka.connectionOpened()
    kafka.connectionRefused()
    kafka.requestAnswered('Produce', 9, 3.90625, 100)
    kafka.requestAnswered('Produce', 12, 31.25, 100)
    kafka.errorAnswered('Produce', 'NOT_LEADER_OR_FOLLOWER')
    const http = system.metrics.http('pico')
    expect(system.metrics.http('pico')).toBe(http) // of two listeners, or their lines would be there twice
    http.connectionOpened()
    http.requestAnswered('read', 200, 0.2)
    http.requestAnswered('read', 204, 0.2)
    http.requestAnswered('append', 404, 70_000)
    http.liveReaderOpened('sse')
    const store = { retries: 1, throttled: 0, hedges: 0, byOperation: { put: 3, get: 2 } }
    system.metrics.watchStore('wal', () => store)
    await system.createTopic('orders')
    await system.append('orders', 3)

    const answer = await system.get('/metrics')
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const lines = (answer.body as string).split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'pico_info{version="1.2.3",node_id="1"} 1',
        'pico_serving 1',
        'pico_kafka_connections 1',
        'pico_kafka_connections_refused_total 1',
        'pico_kafka_request_duration_seconds_bucket{api="Produce",le="0.0025"} 0',
        'pico_kafka_request_duration_seconds_bucket{api="Produce",le="0.005"} 1',
        'pico_kafka_request_duration_seconds_bucket{api="Produce",le="0.05"} 2',
        'pico_kafka_request_duration_seconds_bucket{api="Produce",le="+Inf"} 2',
        'pico_kafka_request_duration_seconds_sum{api="Produce"} 0.03515625',
        'pico_kafka_request_duration_seconds_count{api="Produce"} 2',
        'pico_kafka_errors_total{api="Produce",error="NOT_LEADER_OR_FOLLOWER"} 1',
        'pico_kafka_answer_bytes_total{api="Produce"} 200',
        'pico_http_connections{protocol="pico"} 1',
        'pico_http_requests_total{protocol="pico",route="read",status="2xx"} 2',
        'pico_http_requests_total{protocol="pico",route="append",status="4xx"} 1',
        'pico_http_request_duration_seconds_bucket{protocol="pico",route="append",le="30"} 0',
        'pico_http_request_duration_seconds_count{protocol="pico",route="append"} 1',
        'pico_http_live_readers{protocol="pico",kind="sse"} 1',
        'pico_log_open_streams 1',
        'pico_log_flushes_total 1',
        'pico_log_flush_failures_total 0',
        'pico_log_unflushed_bytes 0',
        'pico_store_requests_total{store="wal",operation="put"} 3',
        'pico_store_requests_total{store="wal",operation="get"} 2',
        'pico_store_retries_total{store="wal"} 1',
        'pico_store_hedges_total{store="wal"} 0',
        'pico_store_throttled_total{store="wal"} 0',
      ]),
    )
    expect(lines.find((line) => line.startsWith('pico_log_flushed_bytes_total '))).toMatch(/ [1-9]\d*$/)
    expect(answer.body).toContain('process_resident_memory_bytes')
    expect(answer.body).not.toContain('orders')
    expect((await system.get('/metrics')).body).toContain('pico_log_flushes_total 1') // counters do not add up by being read
  })
})

import { pendingTransfersShownMax } from '@pico/http-contract'
import type { NewStream, NodeIdentity } from '@pico/metadata'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AdminSystem } from './admin-system.ts'

const otherAddresses = { http: 'http://two.example:4437', kafka: 'two.example:9092' }

/** The machine may be busy with other things. */
const patient = { timeout: 10_000, interval: 20 }

/** Node 1 answers, and does what it is asked to; node 2 is registered beside it, and does nothing by itself. */
let system: AdminSystem
let two: NodeIdentity
beforeEach(async () => {
  system = await AdminSystem.listen()
  await system.start('cluster')
  two = await system.metadata.nodes.register({ nodeId: 2, addresses: otherAddresses, slots: 3 }, Date.now())
  await vi.waitFor(() => expect(system.membership.nodes).toHaveLength(2), patient)
})
afterEach(async () => {
  await system.close()
  expect(system.errors).toEqual([])
})

/** Makes a stream that the node owns. */
async function streamOf(node: NodeIdentity, name: string): Promise<number> {
  await system.createStream(name)
  const streamId = await idOf(name)
  const opened = await system.metadata.streams.open(node, [streamId])
  expect(opened).toHaveLength(1)
  return streamId
}

/** As the database takes it. */
function bareStream(name: string): NewStream {
  const topicId = crypto.randomUUID()
  return { name, topic: null, partition: 0, topicId, contentType: 'application/octet-stream', config: {} }
}

async function idOf(name: string): Promise<number> {
  const [stream] = await system.metadata.streams.byName([name])
  if (stream === undefined) throw new Error(`no stream ${name}`)
  return stream.streamId
}

describe('nodes', () => {
  it('are all that ever registered, with what they have and how long they have been silent', async () => {
    await streamOf(two, '/a')
    await streamOf(two, '/b')
    await streamOf(system.node, '/c')
    const { body } = await system.get('/admin/nodes')
    const silentMs = expect.any(Number)
    expect(body.nodes).toEqual([
      {
        nodeId: 1,
        nodeEpoch: 1,
        httpAddress: 'http://127.0.0.1:4437',
        kafkaAddress: null,
        slots: 1,
        fenced: false,
        silentMs,
        streams: 1,
        local: true,
      },
      {
        nodeId: 2,
        nodeEpoch: 1,
        httpAddress: otherAddresses.http,
        kafkaAddress: otherAddresses.kafka,
        slots: 3,
        fenced: false,
        silentMs,
        streams: 2,
        local: false,
      },
    ])
    const silence = async () => (await system.get('/admin/nodes')).body.nodes[1].silentMs
    const before = body.nodes[1].silentMs
    await expect.poll(silence).toBeGreaterThanOrEqual(before + 50)
    await system.metadata.nodes.heartbeat(two)
    expect(await silence()).toBeLessThan(before + 50)
  })

  it('are shown fenced, also the one that answers, which is then no longer registered', async () => {
    await system.metadata.nodes.fence(two)
    expect((await system.get('/admin/nodes')).body.nodes[1]).toMatchObject({ fenced: true })
    expect((await system.get('/admin/cluster')).body.registered).toBe(true)
    const successor = { nodeId: 1, addresses: { http: 'http://successor.example' }, slots: 1 }
    await system.metadata.nodes.register(successor, Date.now())
    expect((await system.get('/admin/cluster')).body).toMatchObject({ nodeEpoch: 1, registered: false })
    expect((await system.get('/admin/nodes')).body.nodes[0]).toMatchObject({
      nodeEpoch: 2,
      fenced: false,
      local: false,
      httpAddress: 'http://successor.example',
    })
  })

  it('take the slots that they are given', async () => {
    const answer = await system.post('/admin/nodes/2', { slots: 0 })
    expect(answer).toMatchObject({ status: 200, body: { nodeId: 2, slots: 0, httpAddress: otherAddresses.http } })
    expect((await system.metadata.nodes.list())[1]?.slots).toBe(0)
    expect(await system.post('/admin/nodes/2', { slots: 2 ** 31 - 1 })).toMatchObject({ status: 200 })
  })

  it.each([
    ['/admin/nodes/9', { slots: 1 }, 404, /there is no node 9/],
    ['/admin/nodes/two', { slots: 1 }, 400, /"two" is not a decimal integer/],
    ['/admin/nodes/-1', { slots: 1 }, 400, /decimal integer/],
    ['/admin/nodes/', { slots: 1 }, 400, /decimal integer/],
    ['/admin/nodes/2', { slots: -1 }, 400, /slots/],
    ['/admin/nodes/2', { slots: 1.5 }, 400, /slots/],
    ['/admin/nodes/2', { slots: '1' }, 400, /slots/],
    ['/admin/nodes/2', { slots: 2 ** 31 }, 400, /slots/],
    ['/admin/nodes/2', {}, 400, /slots/],
    ['/admin/nodes/2', { slots: 1, more: 1 }, 400, /more/],
    ['/admin/nodes/2', '{"slots":', 400, /not JSON/],
    ['/admin/nodes/2', '', 400, /./],
  ])('POST %s with %j is refused with %i', async (path, body, status, message) => {
    expect(await system.post(path, body)).toMatchObject({ status, body: { message: expect.stringMatching(message) } })
    expect((await system.metadata.nodes.list()).map(({ slots }) => slots)).toEqual([1, 3])
  })
})

describe('a transfer', () => {
  it('is asked for, once however often, shown while it is pending, and known when it is done', async () => {
    const streamId = await streamOf(two, '/orders')
    const asked = await system.post('/admin/transfer', { stream: 'orders', toNode: 1 })
    const { transferId } = asked.body
    const pending = { transferId, stream: '/orders', toNode: 1, state: 'pending', endedAtMs: null }
    expect(asked).toMatchObject({ status: 202, body: pending })
    expect(Date.now() - asked.body.requestedAtMs).toBeLessThan(60_000)
    expect(await system.post('/admin/transfer', { stream: '/orders', toNode: 1 })).toMatchObject({
      status: 202,
      body: asked.body,
    })
    expect(await system.get(`/admin/transfers/${transferId}`)).toMatchObject({ status: 200, body: asked.body })
    expect((await system.get('/admin/cluster')).body).toMatchObject({
      pendingTransfers: [{ transferId, stream: '/orders', toNode: 1 }],
      morePendingTransfers: false,
    })
    const moving = { state: 'transferring', ownerNodeId: 2, pendingTransfer: { toNode: 1 } }
    expect((await system.get('/admin/streams/orders')).body).toMatchObject(moving)
    expect((await system.get('/admin/streams')).body.streams).toMatchObject([moving])

    await system.metadata.transfers.handOver(two, [transferId], Date.now())
    const done = (await system.get(`/admin/transfers/${transferId}`)).body
    expect(done).toEqual({ ...asked.body, state: 'done', endedAtMs: expect.any(Number) })
    expect((await system.get('/admin/cluster')).body.pendingTransfers).toEqual([])
    expect((await system.metadata.streams.byStreamId([streamId]))[0]?.owner).toEqual(system.node)
  })

  it('of what this node has takes the records along', async () => {
    await system.createTopic('orders')
    await system.append('orders', 3)
    const { transferId } = (await system.post('/admin/transfer', { stream: 'orders', toNode: 2 })).body
    await vi.waitFor(
      async () => expect((await system.get(`/admin/transfers/${transferId}`)).body.state).toBe('done'),
      patient,
    )
    expect((await system.get('/admin/streams/orders')).body).toMatchObject({
      state: 'assigned',
      ownerNodeId: 2,
      startOffset: 0,
      endOffset: 3,
      epoch: 2,
    })
  })

  it('of a stream that is there already has nothing to do, and says so in the same form', async () => {
    await streamOf(two, '/orders')
    expect(await system.post('/admin/transfer', { stream: '/orders', toNode: 2 })).toMatchObject({
      status: 200,
      body: { transferId: null, stream: '/orders', toNode: 2, state: 'done', endedAtMs: expect.any(Number) },
    })
  })

  it('of a stream that nobody has is done at once', async () => {
    await system.createStream('/orders')
    const answer = await system.post('/admin/transfer', { stream: '/orders', toNode: 2 })
    expect(answer).toMatchObject({ status: 202, body: { state: 'done', transferId: expect.any(Number) } })
    expect((await system.get('/admin/streams/orders')).body).toMatchObject({
      state: 'assigned',
      ownerNodeId: 2,
      ownerLocal: false,
      ownerAdvertisedAddress: otherAddresses.http,
      pendingTransfer: null,
      offsetsMayLag: true,
    })
  })

  it('may go to a node without slots when no node has any', async () => {
    await streamOf(system.node, '/orders')
    for (const nodeId of [1, 2]) await system.metadata.nodes.setSlots(nodeId, 0)
    expect(await system.post('/admin/transfer', { stream: '/orders', toNode: 2 })).toMatchObject({ status: 202 })
  })

  it('takes a partition of a topic by the name of its stream, and leaves the others where they are', async () => {
    await system.createTopic('orders', 2)
    const rows = () => system.metadata.streams.byTopic(['orders'])
    await system.metadata.streams.place(
      (await rows()).map(({ streamId }) => streamId),
      Date.now(),
    )
    const [first, second] = await rows()
    const toNode = second?.owner?.nodeId === 2 ? 1 : 2
    const stream = '/_streams/orders/1'
    const { status, body } = await system.post('/admin/transfer', { stream, toNode })
    expect({ status, body }).toMatchObject({ status: 202, body: { stream, state: 'pending' } })
    expect((await system.get(`/admin/streams${stream}`)).body).toMatchObject({ name: stream, topic: 'orders' })
    if (toNode === 1) await system.metadata.transfers.handOver(two, [body.transferId], Date.now())
    await vi.waitFor(async () => expect((await rows())[1]?.owner?.nodeId).toBe(toNode), patient)
    expect((await rows())[0]?.owner).toEqual(first?.owner)
  })

  it('fails when the node is gone, or when another one is asked for', async () => {
    await streamOf(two, '/a')
    await streamOf(two, '/b')
    const three = await system.metadata.nodes.register({ nodeId: 3, addresses: {}, slots: 1 }, Date.now())
    const a = await system.post('/admin/transfer', { stream: '/a', toNode: 3 })
    const b = await system.post('/admin/transfer', { stream: '/b', toNode: 3 })
    await system.post('/admin/transfer', { stream: '/b', toNode: 1 })
    expect((await system.get(`/admin/transfers/${b.body.transferId}`)).body.state).toBe('failed')
    await system.metadata.nodes.fence(three)
    await system.metadata.transfers.handOver(two, [a.body.transferId], Date.now())
    expect((await system.get(`/admin/transfers/${a.body.transferId}`)).body).toMatchObject({ state: 'failed' })
  })

  it('is forgotten with its stream, and long after it ended', async () => {
    await streamOf(two, '/a')
    await system.createStream('/b')
    const a = await system.post('/admin/transfer', { stream: '/a', toNode: 1 })
    const b = await system.post('/admin/transfer', { stream: '/b', toNode: 2 })
    expect([a.body.state, b.body.state]).toEqual(['pending', 'done'])
    await system.metadata.streams.delete([await idOf('/a')], Date.now())
    await system.metadata.transfers.forget(Date.now() + 1000)
    for (const { body } of [a, b]) {
      expect(await system.get(`/admin/transfers/${body.transferId}`)).toMatchObject({
        status: 404,
        body: { error: 'not_found', message: expect.stringContaining(`there is no transfer ${body.transferId}`) },
      })
    }
  })

  it.each([
    [{ stream: '/nothing', toNode: 2 }, 404, 'there is no stream /nothing'],
    [{ stream: '/gone', toNode: 2 }, 404, 'there is no stream /gone'],
    [{ stream: '/orders', toNode: 9 }, 404, 'there is no node 9'],
    [{ stream: '/orders', toNode: 3 }, 409, 'node 3 is fenced, and takes no streams until it is back'],
    [{ stream: '/orders', toNode: 4 }, 409, 'node 4 has no slots, and would give the stream up at once'],
    [{ stream: 'a//b', toNode: 2 }, 400, 'a stream name has no empty segment'],
    [{ stream: '', toNode: 2 }, 400, /stream/],
    [{ stream: '/orders' }, 400, /toNode/],
    [{ stream: '/orders', toNode: '2' }, 400, /toNode/],
    [{ stream: '/orders', toNode: 2.5 }, 400, /toNode/],
    [{ stream: '/orders', toNode: -2 }, 400, /toNode/],
    [{ stream: '/orders', toNode: 2, wait: true }, 400, /wait/],
    [[], 400, /./],
    ['not json', 400, 'the body is not JSON'],
    ['"'.padEnd(70_000, 'x'), 413, /65536 bytes/],
  ])('asked for with %j is refused with %i', async (body, status, message) => {
    await streamOf(system.node, '/orders')
    await expired('/gone')
    const three = await system.metadata.nodes.register({ nodeId: 3, addresses: {}, slots: 1 }, Date.now())
    await system.metadata.nodes.fence(three)
    await system.metadata.nodes.register({ nodeId: 4, addresses: {}, slots: 0 }, Date.now())
    const answer = await system.post('/admin/transfer', body)
    expect(answer).toMatchObject({ status, body: { message: expect.stringMatching(message) } })
    expect((await system.get('/admin/cluster')).body.pendingTransfers).toEqual([])
  })

  it.each(['x', '', '1.5', '99999999999999999999'])('with the id %j is refused', async (id) => {
    expect(await system.get(`/admin/transfers/${id}`)).toMatchObject({ status: 400, body: { error: 'bad_request' } })
  })

  async function expired(name: string): Promise<void> {
    await system.metadata.streams.create([{ ...bareStream(name), expiresAtMs: 1 }], Date.now())
  }
})

describe('the cluster', () => {
  it('has its maintenance done by who holds the lease', async () => {
    await vi.waitFor(async () => expect((await system.get('/admin/cluster')).body.leaseHolder).toBe(1), patient)
    expect(await system.metadata.leases.holder('maintenance')).toEqual(system.node)
  })

  it('shows so many pending transfers, and that there are more', async () => {
    const { streams, transfers } = system.metadata
    const news = Array.from({ length: pendingTransfersShownMax + 1 }, (_, at) => bareStream(`/many/${at}`))
    const made = await streams.create(news, Date.now())
    const ids = made.map(({ streamId }) => streamId)
    await streams.open(two, ids)
    for (const streamId of ids.slice(1)) await transfers.request(streamId, 1, Date.now())
    expect((await system.get('/admin/cluster')).body).toMatchObject({
      pendingTransfers: { length: pendingTransfersShownMax },
      morePendingTransfers: false,
    })
    await transfers.request(ids[0] as number, 1, Date.now())
    const { pendingTransfers, morePendingTransfers } = (await system.get('/admin/cluster')).body
    expect([pendingTransfers.length, morePendingTransfers]).toEqual([pendingTransfersShownMax, true])
    // The last of them is beyond the first page.
    expect((await system.get('/admin/streams/many/0')).body.pendingTransfer).toEqual({ toNode: 1 })
  })
})

describe('streams of other nodes', () => {
  it('are shown as the database knows them, and as such', async () => {
    await system.createTopic('orders')
    await system.append('orders', 3)
    await streamOf(two, '/theirs')
    const { streams } = (await system.get('/admin/streams')).body
    expect(streams).toMatchObject([
      { name: '/orders', ownerNodeId: 1, ownerAdvertisedAddress: 'http://127.0.0.1:4437', offsetsMayLag: false },
      { name: '/theirs', ownerNodeId: 2, ownerAdvertisedAddress: otherAddresses.http, offsetsMayLag: true },
    ])
    expect((await system.get('/admin/streams/theirs')).body).toEqual(streams[1])
  })

  it('have no owner any more when that has been fenced', async () => {
    await streamOf(two, '/theirs')
    await system.metadata.nodes.fence(two)
    expect((await system.get('/admin/streams')).body.streams).toMatchObject([
      { state: 'unassigned', ownerNodeId: 2, ownerAdvertisedAddress: null, offsetsMayLag: true },
    ])
  })

  it('that are our own can be looked at, and moved', async () => {
    const [group] = await system.metadata.streams.create([bareStream('/_sys/groups/billing')], Date.now())
    await system.metadata.streams.open(system.node, [group?.streamId ?? 0])
    expect(await system.get('/admin/streams/_sys/groups/billing')).toMatchObject({
      status: 200,
      body: { name: '/_sys/groups/billing', topic: null, ownerLocal: true, offsetsMayLag: true },
    })
    expect((await system.get('/admin/streams')).body.streams).toEqual([])
    expect(await system.post('/admin/transfer', { stream: '/_sys/groups/billing', toNode: 2 })).toMatchObject({
      status: 202,
      body: { state: 'pending' },
    })
  })
})

describe('a web page of another origin', () => {
  const transfer = JSON.stringify({ stream: '/orders', toNode: 2 })
  const origin = 'https://elsewhere.example'

  // What a browser sends of such a page without asking first: a form, or text (the CORS-safelisted Content-Types).
  it.each([
    'text/plain',
    'text/plain;application/json',
    'text/plain; charset=application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=application/json',
    null,
  ])('cannot move a stream with a body of Content-Type %j', async (contentType) => {
    await streamOf(system.node, '/orders')
    const headers = { origin, ...(contentType === null ? {} : { 'content-type': contentType }) }
    const body = contentType === null ? Buffer.from(transfer) : transfer // of text, fetch says that it is
    for (const [path, sent] of [
      ['/admin/transfer', body],
      ['/admin/nodes/2', Buffer.from('{"slots":0}')],
    ] as const) {
      const answer = await system.ask(path, { method: 'POST', headers, body: sent })
      expect(answer).toMatchObject({ status: 415, body: { error: 'unsupported_media_type' } })
    }
    expect((await system.get('/admin/cluster')).body.pendingTransfers).toEqual([])
    expect((await system.metadata.nodes.list())[1]?.slots).toBe(3)
  })

  it('is not allowed anything when its browser asks, and is not shown what is answered', async () => {
    const asking = { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }
    for (const path of ['/admin/transfer', '/admin/nodes/2', '/admin/cluster']) {
      const preflight = await system.ask(path, { method: 'OPTIONS', headers: asking })
      const seen = await system.ask(path, { headers: { origin } })
      for (const { headers } of [preflight, seen]) {
        expect([...headers.keys()]).not.toContain('access-control-allow-origin')
        expect([...headers.keys()]).not.toContain('access-control-allow-credentials')
        expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      }
      expect(preflight.headers.get('access-control-allow-headers') ?? '').toBe('')
    }
  })
})

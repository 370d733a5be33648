import { StoreFailedError } from '@pico/storage'
import { afterEach, describe, expect, test } from 'vitest'
import { type Answer, done, openScripted, refusal, type ScriptedS3, type SeenRequest } from './scripted-s3.ts'

const partBytes = 1000
const content = Buffer.from(Array.from({ length: 2500 }, (_, i) => i % 251))

let one: ScriptedS3 | undefined
afterEach(async () => {
  await one?.close()
  one = undefined
})

/** Multipart uploads as S3 answers them, unless `other` has another answer. */
function upload(other: (request: SeenRequest) => Answer | null = () => null): Answer {
  return (outgoing, request) => {
    const answer = other(request)
    if (answer !== null) return answer(outgoing, request)
    const xml = (body: string) => void outgoing.writeHead(200, { 'content-type': 'application/xml' }).end(body)
    const kind = kindOf(request)
    if (kind === 'create')
      return xml('<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>')
    if (kind === 'complete')
      return xml('<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>')
    if (kind === 'list')
      return xml(
        '<ListMultipartUploadsResult><Upload><Key>p/old</Key><UploadId>u0</UploadId><Initiated>2026-01-01T00:00:00Z</Initiated></Upload><Upload><Key>p/new</Key><UploadId>u1</UploadId><Initiated>2026-03-01T00:00:00Z</Initiated></Upload></ListMultipartUploadsResult>',
      )
    outgoing.writeHead(kind === 'abort' ? 204 : 200, { etag: `"${request.body.length}"` }).end()
  }
}

function kindOf({ method, path }: SeenRequest): string {
  const query = new URL(path, 'http://s3').searchParams
  if (method === 'POST') return query.has('uploads') ? 'create' : 'complete'
  if (method === 'GET') return 'list'
  if (method === 'DELETE') return 'abort'
  return query.has('partNumber') ? `part ${query.get('partNumber')}` : 'put'
}

async function open(answer: Answer): Promise<ScriptedS3> {
  one = await openScripted([answer], { partBytes })
  return one
}

async function* body(lengthBytes: number, failure?: Error): AsyncGenerator<Uint8Array> {
  const lent = Buffer.alloc(300)
  for (let at = 0; at < lengthBytes; at += lent.length) {
    const end = Math.min(lengthBytes, at + lent.length)
    content.copy(lent, 0, at, end)
    yield lent.subarray(0, end - at)
  }
  if (failure !== undefined) throw failure
}

describe('a streamed body', () => {
  test.each([0, 1, partBytes])('of %d bytes, which fits into one part, is one put', async (lengthBytes) => {
    const { store, seen } = await open(done)
    await store.put('a', body(lengthBytes))
    expect(seen.map(kindOf)).toEqual(['put'])
    expect(seen[0]?.body.equals(content.subarray(0, lengthBytes))).toBe(true)
  })

  test('that is longer goes in parts of one size and a rest', async () => {
    const { store, seen } = await open(upload())
    await store.put('a', body(2500))
    expect(seen.map(kindOf)).toEqual(['create', 'part 1', 'part 2', 'part 3', 'complete'])
    expect(Buffer.concat(seen.slice(1, 4).map((request) => request.body)).equals(content)).toBe(true)
    expect(seen.slice(1, 4).map((request) => request.body.length)).toEqual([1000, 1000, 500])
    expect(String(seen[4]?.body)).toMatch(/<PartNumber>1<\/PartNumber>.*<PartNumber>2<.*<PartNumber>3</)
  })

  test('a part is repeated by itself', async () => {
    let failed = false
    const { store, seen } = await open(
      upload((request) => {
        if (kindOf(request) !== 'part 2' || failed) return null
        failed = true
        return refusal(503, 'SlowDown')
      }),
    )
    await store.put('a', body(2500))
    expect(seen.map(kindOf)).toEqual(['create', 'part 1', 'part 2', 'part 2', 'part 3', 'complete'])
  })

  test('an upload is aborted when a part is refused, the body fails, or the put is aborted', async () => {
    const refused = await open(
      upload((request) => (kindOf(request) === 'part 2' ? refusal(400, 'EntityTooLarge') : null)),
    )
    await expect(refused.store.put('a', body(2500))).rejects.toThrow(StoreFailedError)
    expect(refused.seen.map(kindOf).at(-1)).toBe('abort')
    await refused.close()

    const failing = await open(upload())
    const failure = new Error('the source broke')
    await expect(failing.store.put('a', body(2400, failure))).rejects.toBe(failure)
    expect(failing.seen.map(kindOf)).not.toContain('complete')
    expect(failing.seen.map(kindOf).at(-1)).toBe('abort')
    await failing.close()

    const controller = new AbortController()
    const reason = new Error('enough')
    const aborted = await open(
      upload((request) => {
        if (kindOf(request) !== 'part 2') return null
        controller.abort(reason)
        return () => undefined
      }),
    )
    await expect(aborted.store.put('a', body(2500), { signal: controller.signal })).rejects.toBe(reason)
    expect(aborted.seen.map(kindOf).at(-1)).toBe('abort')
  })

  test('is one large put where the store has no multipart uploads', async () => {
    const { store, seen } = await open((outgoing, request) =>
      (kindOf(request) === 'create' ? refusal(501, 'NotImplemented') : done)(outgoing, request),
    )
    for (let i = 0; i < 2; i++) await store.put('a', body(2500))
    expect(seen.map(kindOf)).toEqual(['create', 'put', 'put'])
    for (const { body } of seen.slice(1)) expect(body.equals(content)).toBe(true)
  })
})

test('uploads that began before a time are aborted, later ones go on', async () => {
  const { store, seen } = await open(upload())
  expect(await store.abortUploads(Date.parse('2026-02-01T00:00:00Z'))).toBe(1)
  expect(seen.map(kindOf)).toEqual(['list', 'abort'])
  expect(seen[1]?.path).toMatch(/\/p\/old\?.*uploadId=u0/)
})

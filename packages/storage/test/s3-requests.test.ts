import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  BucketMissingError,
  ObjectMissingError,
  ObjectTruncatedError,
  StoreDeniedError,
  StoreFailedError,
  StoreUnavailableError,
} from '@pico/storage'
import { afterEach, describe, expect, test } from 'vitest'
import type { S3Limits, S3Place } from '../src/s3/s3-settings.ts'
import {
  type Answer,
  after,
  bytes,
  done,
  half,
  openScripted,
  refusal,
  reset,
  type ScriptedS3,
  silence,
} from './scripted-s3.ts'

const content = Buffer.from('0123456789'.repeat(1000))
const all = { offset: 0, length: content.length }

let opened: ScriptedS3[] = []
afterEach(async () => {
  for (const one of opened) await one.close()
  opened = []
})

async function scripted(answers: readonly Answer[], limits?: Partial<S3Limits>, place?: Partial<S3Place>) {
  const one = await openScripted(answers, limits, place)
  opened.push(one)
  return one
}

/** Short only where nothing comes: on a busy machine the first answer takes a while. */
function patience(failure: Answer): Partial<S3Limits> {
  return failure === silence ? { attemptDeadlineMs: 300 } : {}
}

describe('a request is repeated until it succeeds', () => {
  const failures: readonly [string, Answer][] = [
    ['500 InternalError', refusal(500, 'InternalError')],
    ['503 SlowDown', refusal(503, 'SlowDown')],
    ['429 without a word', (outgoing) => void outgoing.writeHead(429).end()],
    ['502 of a proxy, in HTML', (outgoing) => void outgoing.writeHead(502).end('<html>Bad Gateway')],
    ['RequestTimeout', refusal(400, 'RequestTimeout')],
    ['a clock that is off', refusal(403, 'RequestTimeTooSkewed')],
    ['bytes altered on the way', refusal(400, 'XAmzContentSHA256Mismatch')],
    ['a reset connection', reset],
    ['no answer', silence],
  ]

  test.each(failures)('after %s, when it is a put', async (_, failure) => {
    const { store, seen } = await scripted([failure, failure, done], patience(failure))
    await store.put('a', [content.subarray(0, 10), content.subarray(10)])
    expect(seen.map(({ method, path }) => `${method} ${path}`)).toEqual(Array(3).fill('PUT /bucket/p/a?x-id=PutObject'))
    for (const { body } of seen) expect(body.equals(content)).toBe(true)
    expect(store.counts.requests).toBe(store.counts.retries + 1)
  })

  test.each([...failures, ['half a body', half(content)] as const])(
    'after %s, when it is a get',
    async (_, failure) => {
      const { store, seen } = await scripted([failure, bytes(content)], patience(failure))
      expect(content.equals(await store.get('a', all))).toBe(true)
      expect(seen.length).toBe(2)
    },
  )

  test('throttling is counted', async () => {
    const { store } = await scripted([refusal(503, 'SlowDown'), refusal(500, 'InternalError'), done])
    await store.put('a', [content])
    expect(store.counts).toMatchObject({ retries: 2, throttled: 1, byOperation: { put: 3, other: 0 } })
  })
})

describe('a request fails', () => {
  test('with what it failed for last, when its deadline has passed', async () => {
    const { store, seen } = await scripted([refusal(503, 'SlowDown')], { callDeadlineMs: 1500 })
    const error = await store.put('a', [content]).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(String(error)).toMatch(/put of a had no success: SlowDown/)
    expect(seen.length).toBeGreaterThan(3)
  })

  test('in time when there is never an answer', async () => {
    const { store } = await scripted([silence], { callDeadlineMs: 300, attemptDeadlineMs: 100 })
    const startedMs = performance.now()
    await expect(store.get('a', all)).rejects.toThrow(/get of a had no success.*no answer within/)
    expect(performance.now() - startedMs).toBeLessThan(5000)
  })

  test.each([
    ['NoSuchKey', 404, ObjectMissingError, 'PICO_STORAGE_OBJECT_MISSING'],
    ['NoSuchBucket', 404, BucketMissingError, 'PICO_STORAGE_BUCKET_MISSING'],
    ['AccessDenied', 403, StoreDeniedError, 'PICO_STORAGE_DENIED'],
    ['SignatureDoesNotMatch', 403, StoreDeniedError, 'PICO_STORAGE_DENIED'],
    ['InvalidRange', 416, ObjectTruncatedError, 'PICO_STORAGE_OBJECT_TRUNCATED'],
    ['InvalidArgument', 400, StoreFailedError, 'PICO_STORAGE_FAILED'],
  ] as const)('at once for %s', async (code, status, type, storageCode) => {
    const { store, seen } = await scripted([refusal(status, code)])
    const error = await store.get('a', all).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ code: storageCode })
    expect(seen.length).toBe(1)
  })

  test('at once when there is less than the range, or the store knows no ranges', async () => {
    const short = await scripted([bytes(content)])
    await expect(short.store.get('a', { offset: 9_995, length: 10 })).rejects.toThrow(ObjectTruncatedError)
    const ignorant = await scripted([(outgoing) => void outgoing.writeHead(200).end(content)])
    await expect(ignorant.store.get('a', { offset: 5, length: 10 })).rejects.toThrow(/asked for a range/)
    expect([...short.seen, ...ignorant.seen].length).toBe(2)
  })

  test('with the reason of the signal as soon as it is aborted: while sent, while repeated, while in line', async () => {
    const reason = new Error('enough')
    for (const [answer, limits] of [
      [silence, {}],
      [refusal(500, 'InternalError'), { retryDelayMsMin: 60_000, retryDelayMsMax: 60_000 }],
    ] as const) {
      const { store } = await scripted([answer], { ...limits, requestsInFlightMax: 1 })
      const controller = new AbortController()
      const both = [1, 2].map(() => store.get('a', all, { signal: controller.signal }))
      await sleep(50)
      controller.abort(reason)
      for (const one of both) await expect(one).rejects.toBe(reason)
    }
  })
})

describe('at most so many requests are under way', () => {
  test('and puts come before what waits longer', async () => {
    let underWay = 0
    let most = 0
    const slow: Answer = (outgoing, request) => {
      most = Math.max(most, ++underWay)
      const answer = request.method === 'PUT' ? done : bytes(content)
      setTimeout(() => {
        underWay -= 1
        answer(outgoing, request)
      }, 20)
    }
    const { store, seen } = await scripted([slow], { requestsInFlightMax: 2 })
    const gets = Array.from({ length: 8 }, () => store.get('a', all))
    await Promise.all([...gets, store.put('b', [content])])
    expect(most).toBe(2)
    expect(seen.findIndex(({ method }) => method === 'PUT')).toBeLessThan(4)
  })
})

describe('a slow get is sent a second time', () => {
  test('and the first answer counts', async () => {
    const { store } = await scripted([silence, bytes(content)], { hedgeShareMax: 1, attemptDeadlineMs: 5000 })
    const startedMs = performance.now()
    expect(content.equals(await store.get('a', all))).toBe(true)
    expect(performance.now() - startedMs).toBeLessThan(3000) // after the 500 ms of a store not known yet
    expect(store.counts).toMatchObject({ requests: 2, byOperation: { get: 2, put: 0 }, hedges: 1, retries: 0 })
  })

  test('but only a share of all, so that a slow store is not asked twice for everything', async () => {
    const { store } = await scripted([after(30, bytes(content))], { hedgeShareMax: 0.1, hedgeDelayMsMin: 5 })
    for (let i = 0; i < 10; i++) await Promise.all(Array.from({ length: 10 }, () => store.get('a', all)))
    const { hedges, requests } = store.counts
    expect(hedges).toBeLessThanOrEqual(10)
    expect(requests).toBe(100 + hedges)
  })
})

describe('what is sent', () => {
  test('is hashed where there is no TLS, and carries no checksum trailer and no expectation', async () => {
    const { store, seen } = await scripted(
      [done],
      {},
      { sse: { algorithm: 'aws:kms', kmsKeyId: 'k1' }, storageClass: 'STANDARD_IA' },
    )
    await store.put('a', [content])
    const headers = seen[0]?.headers ?? {}
    expect(headers['x-amz-content-sha256']).toBe(createHash('sha256').update(content).digest('hex'))
    expect(headers['content-length']).toBe(String(content.length))
    expect(headers).toMatchObject({
      'x-amz-server-side-encryption': 'aws:kms',
      'x-amz-server-side-encryption-aws-kms-key-id': 'k1',
      'x-amz-storage-class': 'STANDARD_IA',
    })
    expect(Object.keys(headers).filter((name) => /trailer|checksum|expect|transfer/.test(name))).toEqual([])
  })
})

describe('deletes', () => {
  test('go in a batch, and one by one once the store has refused a batch', async () => {
    const { store, seen } = await scripted([refusal(501, 'NotImplemented'), done])
    await store.delete(['a', 'b', 'a'])
    await store.delete(['c', 'd'])
    expect(seen.map(({ method, path }) => `${method} ${path.split('?')[0]}`)).toEqual([
      'POST /bucket/',
      'DELETE /bucket/p/a',
      'DELETE /bucket/p/b',
      'DELETE /bucket/p/c',
      'DELETE /bucket/p/d',
    ])
  })

  test('that a batch left undone are made one by one, and what is not there does not matter', async () => {
    const errors = '<Error><Key>p/b</Key><Code>InternalError</Code></Error>'
    const partly: Answer = (outgoing) => void outgoing.writeHead(200).end(`<DeleteResult>${errors}</DeleteResult>`)
    const { store, seen } = await scripted([partly, refusal(404, 'NoSuchKey')])
    await store.delete(['a', 'b', 'c'])
    expect(seen.map(({ method }) => method)).toEqual(['POST', 'DELETE'])
    expect(seen[1]?.path).toMatch(/^\/bucket\/p\/b\b/)
  })
})

describe('a list', () => {
  const page = (keys: readonly string[], token?: string): Answer => {
    const rest = '<Size>1</Size><LastModified>2026-11-30T01:02:03.000Z</LastModified>'
    const contents = keys.map((key) => `<Contents><Key>${key}</Key>${rest}</Contents>`).join('')
    const more = token === undefined ? '' : `<NextContinuationToken>${token}</NextContinuationToken>`
    const body = `<ListBucketResult><IsTruncated>${token !== undefined}</IsTruncated>${more}${contents}</ListBucketResult>`
    return (outgoing) => void outgoing.writeHead(200, { 'content-type': 'application/xml' }).end(body)
  }
  const keysOf = async ({ store }: ScriptedS3) => {
    const keys: string[] = []
    for await (const { key } of store.list('')) keys.push(key)
    return keys
  }

  test('goes on over pages, empty ones too, and leaves out the marks of folders', async () => {
    const one = await scripted([page(['p/a/', 'p/a/b'], 't1'), page([], 't2'), page(['p/c'])])
    expect(await keysOf(one)).toEqual(['a/b', 'c'])
    expect(one.seen.map(({ path }) => /continuation-token=(\w+)/.exec(path)?.[1])).toEqual([undefined, 't1', 't2'])
  })

  test('that is out of order, or begins again, is an error', async () => {
    await expect(keysOf(await scripted([page(['p/b', 'p/a'])]))).rejects.toThrow(/lists p\/a after p\/b/)
    await expect(keysOf(await scripted([page(['p/a'], 't')]))).rejects.toThrow(/lists p\/a after p\/a/)
  })
})

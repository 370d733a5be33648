import { randomBytes } from 'node:crypto'
import { BucketMissingError, type ObjectStore, StoreDeniedError, StoreUnavailableError } from '@pico/storage'
import { objectStoreConformance } from '@pico/storage/conformance'
import { openS3Store, S3ProbeError, type S3Settings } from '@pico/storage/s3'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type S3Fault, type S3FaultProxy, startS3FaultProxy } from '../src/cluster/s3-fault-proxy.ts'
import { newPrefix, type S3Service, startS3 } from '../src/cluster/s3-service.ts'

const MiB = 1024 * 1024
let service: S3Service
let proxy: S3FaultProxy

beforeAll(async () => {
  service = await startS3()
  Object.assign(process.env, service.env)
  proxy = await startS3FaultProxy(service.endpoint ?? `https://s3.${service.region}.amazonaws.com`)
})

afterEach(() => {
  proxy.fault = null
  proxy.picks = () => true
  proxy.requests.length = 0
})

afterAll(async () => {
  await proxy.close()
  await service.close()
})

function settingsOf(more: Partial<S3Settings> = {}): S3Settings {
  const { bucket, region, endpoint } = service
  return { bucket, prefix: `${newPrefix(service)}/`, region, ...(endpoint !== undefined && { endpoint }), ...more }
}

async function withStore(settings: Partial<S3Settings>, use: (store: ObjectStore) => Promise<void>): Promise<void> {
  const store = await openS3Store(settingsOf({ endpoint: proxy.endpoint, ...settings }))
  try {
    await use(store)
  } finally {
    await store.close()
  }
}

describe('S3 object store', () => objectStoreConformance(() => openS3Store(settingsOf())))

describe('a multipart upload', () => {
  const partBytes = 5 * MiB // the least that S3 allows
  const content = randomBytes(2 * partBytes + 12_345)
  const body = async function* (failure?: Error) {
    for (let at = 0; at < content.length; at += MiB) yield content.subarray(at, at + MiB)
    if (failure !== undefined) throw failure
  }

  it('reads back as it was put', () =>
    withStore({ partBytes }, async (store) => {
      await store.put('large', body())
      expect(proxy.requests.filter(({ operation }) => operation === 'upload-part').length).toBe(3)
      expect(content.equals(await store.get('large'))).toBe(true)
      const range = { offset: partBytes - 5, length: 10 }
      expect(content.subarray(range.offset, range.offset + 10).equals(await store.get('large', range))).toBe(true)
    }))

  it('is repeated part by part where the store fails', () =>
    withStore({ partBytes }, async (store) => {
      let left = 4
      proxy.fault = 'reset'
      proxy.picks = (operation) => operation === 'upload-part' && left-- > 0
      await store.put('large', body())
      expect(content.equals(await store.get('large'))).toBe(true)
    }))

  it('leaves nothing when the body fails, and what a killed process leaves is aborted later', async () => {
    const settings = settingsOf({ partBytes })
    const store = await openS3Store(settings)
    const failure = new Error('the source broke')
    await expect(store.put('never', body(failure))).rejects.toBe(failure)
    expect(await store.abortUploads(Date.now() + 60_000)).toBe(0)

    const stuck = await openS3Store({ ...settings, endpoint: proxy.endpoint })
    proxy.fault = 'stall'
    proxy.picks = (operation) => operation === 'upload-part' || operation === 'delete'
    const controller = new AbortController()
    const putting = stuck.put('left', body(), { signal: controller.signal }).catch(() => undefined)
    await expect.poll(() => store.abortUploads(Date.now() + 60_000), { timeout: 20_000, interval: 250 }).toBe(1)
    expect(await store.abortUploads(Date.now() + 60_000)).toBe(0)
    proxy.fault = null
    controller.abort(new Error('enough'))
    await putting
    await stuck.close()
    await store.close()
  }, 60_000)
})

describe('a store that misbehaves', () => {
  const faults: readonly S3Fault[] = ['stall', 'slow-down', 'error', 'reset', 'cut', 'lose-answer']

  it.each(faults)('(%s) for a while is waited for, and nothing is lost', (fault) =>
    withStore({ attemptDeadlineMs: 500 }, async (store) => {
      const content = randomBytes(300_000)
      await store.put('before', [content])
      proxy.fault = fault
      setTimeout(() => {
        proxy.fault = null
      }, 1000)
      await Promise.all([
        store.put('during', [content]),
        store.get('before', { offset: 100, length: 200_000 }).then((got) => {
          expect(content.subarray(100, 200_100).equals(got)).toBe(true)
        }),
        store.delete(['a', 'b']),
      ])
      expect(content.equals(await store.get('during'))).toBe(true)
    }),
  )

  it('for longer than a call may take is unavailable', () =>
    withStore({ callDeadlineMs: 1000 }, async (store) => {
      proxy.fault = 'slow-down'
      await expect(store.put('a', [Buffer.from('x')])).rejects.toThrow(StoreUnavailableError)
    }))
})

describe('what cannot be used is told apart', () => {
  it('no such bucket', async () => {
    const error = await openS3Store(settingsOf({ bucket: 'pico-no-such-bucket' })).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(S3ProbeError)
    expect((error as S3ProbeError).cause).toBeInstanceOf(BucketMissingError)
    expect(String(error)).toMatch(/make the bucket pico-no-such-bucket/)
  })

  it('credentials that are wrong', async () => {
    const secret = process.env['AWS_SECRET_ACCESS_KEY']
    process.env['AWS_SECRET_ACCESS_KEY'] = 'another'
    try {
      const error = await openS3Store(settingsOf()).catch((caught: unknown) => caught)
      expect((error as S3ProbeError).cause).toBeInstanceOf(StoreDeniedError)
      expect(String(error)).toMatch(/SignatureDoesNotMatch.*look at AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/)
    } finally {
      if (secret === undefined) delete process.env['AWS_SECRET_ACCESS_KEY']
      else process.env['AWS_SECRET_ACCESS_KEY'] = secret
    }
  })
})

import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PicoSystem } from './pico-system.ts'

const bodyBytesMax = 600_000
let pico: PicoSystem
beforeAll(async () => {
  pico = await PicoSystem.open({ bodyBytesMax })
})
afterAll(async () => {
  expect(pico.errors).toEqual([])
  await pico.close()
})

const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** In pieces of these sizes, each in its own turn of the event loop. */
function appendInPieces(path: string, body: Buffer, pieceBytes: number, isAnnounced: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = isAnnounced ? { 'Content-Length': body.length } : {}
    const sent = request(
      { port: pico.port, host: '127.0.0.1', method: 'POST', path, headers, agent: false },
      (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      },
    )
    sent.on('error', reject)
    let at = 0
    const next = () => {
      if (at >= body.length) {
        sent.end()
        return
      }
      sent.write(body.subarray(at, at + pieceBytes))
      at += pieceBytes
      setImmediate(next)
    }
    next()
  })
}

test.each([
  [1, 300, true],
  [1, 300, false],
  [1000, 300_000, true],
  [1000, 300_000, false],
  [65_536, bodyBytesMax, true],
  [65_536, bodyBytesMax, false],
  [bodyBytesMax, bodyBytesMax, true],
])(
  'a body in pieces of %i bytes, %i in all, is what was sent (length told: %s)',
  async (pieceBytes, bytes, isAnnounced) => {
    const path = `/pieces/${pieceBytes}/${bytes}/${isAnnounced}`
    await pico.create(path)
    const body = randomBytes(bytes)
    expect(await appendInPieces(path, body, pieceBytes, isAnnounced)).toBe(200)
    const read = await pico.get(`${path}?format=raw`)
    expect([read.body.length, sha(read.body)]).toEqual([bytes, sha(body)])
  },
)

test('one byte over the limit is one too many', async () => {
  await pico.create('/over')
  expect(await appendInPieces('/over', randomBytes(bodyBytesMax + 1), 65_536, false)).toBe(413)
  expect(await appendInPieces('/over', randomBytes(bodyBytesMax), 65_536, false)).toBe(200)
  expect(await pico.records('/over')).toHaveLength(1)
})

test('bodies that arrive at the same time, and one after the other, do not get into each other', async () => {
  const sent = new Map<string, string>()
  const writer = async (n: number) => {
    for (let round = 0; round < 5; round++) {
      const path = `/racing/${n}/${round}`
      await pico.create(path)
      const body = randomBytes(100_000 + ((n * 97_003 + round * 41_011) % 400_000))
      sent.set(path, sha(body))
      expect(await appendInPieces(path, body, 30_000 + n * 1000, n % 2 === 0)).toBe(200)
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, n) => writer(n)))
  for (const [path, digest] of sent) expect(sha((await pico.get(`${path}?format=raw`)).body)).toBe(digest)
})

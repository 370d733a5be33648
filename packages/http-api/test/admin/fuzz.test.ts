import { request } from 'node:http'
import { adminRoutes, errorBodySchema } from '@pico/http-contract'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { AdminSystem } from './admin-system.ts'

let system: AdminSystem
beforeAll(async () => {
  system = await AdminSystem.listen()
  await system.start()
  await system.createTopic('orders')
})
afterAll(async () => {
  await system.close()
  expect(system.errors).toEqual([])
})

/** What Node lets a client send in a path: visible ASCII. */
const rough = fc.string({ unit: fc.constantFrom(...'abz09/.%2Fe?&=#:@[]{}|^`"<>\\~+;,*!'), maxLength: 60 })
const encoded = fc.string({ unit: 'binary', maxLength: 40 }).map((text) => encodeURIComponent(text.toWellFormed()))
const routes = Object.values(adminRoutes).map(({ path }) => path.replace(/\{\w+\}$/, ''))
const targets = fc
  .tuple(fc.constantFrom('/', ...routes), fc.oneof(rough, encoded), fc.constantFrom('', '?'), fc.oneof(rough, encoded))
  .map((parts) => parts.join(''))
const methods = fc.constantFrom('GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS')
const bodies = fc.option(fc.uint8Array({ maxLength: 200 }))
const types = fc.constantFrom('application/json', 'text/plain', 'x', 'multipart/form-data; boundary=')

function send(method: string, path: string, body: Uint8Array | null, type: string) {
  const { hostname, port } = new URL(system.url)
  return new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
    const headers = body === null ? {} : { 'content-type': type, 'content-length': body.length }
    const sent = request({ hostname, port, method, path, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text }),
      )
    })
    sent.on('error', reject)
    sent.end(body ?? undefined)
  })
}

it('whatever is asked of the admin listener is answered, what is wrong with a JSON error, and nothing is our fault', async () => {
  await fc.assert(
    fc.asyncProperty(methods, targets, bodies, types, async (method, path, body, type) => {
      const answer = await send(method, path, body, type)
      expect(answer.status).toBeLessThan(500)
      if (answer.status < 400 || method === 'HEAD') return
      expect(answer.type).toMatch(/^application\/json/)
      expect(errorBodySchema.safeParse(JSON.parse(answer.text)).success).toBe(true)
    }),
    { numRuns: 500 },
  )
  expect((await system.get('/admin/streams')).body.streams).toHaveLength(1)
})

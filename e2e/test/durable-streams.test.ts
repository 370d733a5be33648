import { runConformanceTests } from '@durable-streams/server-conformance-tests'
import { afterAll, beforeAll, vi } from 'vitest'
import { serveDurableStreams } from '../src/durable-streams/serve-durable-streams.ts'
import type { PicoServer } from '../src/pico.ts'

/*
 * The official suite, all of it. It gives a test 5 s where it says nothing else, and so do we: a slow answer is a failure. Subscriptions are an extension that a
 * server has to ask for; those six tests it skips by itself.
 */
vi.setConfig({ testTimeout: 5_000 })

let server: PicoServer | undefined
const target = { baseUrl: '' }

beforeAll(async () => {
  server = await serveDurableStreams()
  target.baseUrl = server.httpUrl
})

afterAll(async () => {
  await server?.close()
})

runConformanceTests(target)

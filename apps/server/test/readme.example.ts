import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveDefaults, serverConfig, startServer } from '@pico/server'
import { pino } from 'pino'

const folder = mkdtempSync(join(tmpdir(), 'pico-'))
const config = serverConfig({
  ...serveDefaults(),
  'kafka-listen': '127.0.0.1:0', // any free port
  'meta-url': `sqlite:${join(folder, 'meta.db')}`,
  storage: `-2@file://${join(folder, 'objects')}`,
})
const server = await startServer(config, { log: pino({ level: 'warn' }) })
console.log(`node ${server.nodeId} serves Kafka clients on ${server.kafka?.host}`)
await server.close()

import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveDefaults, serverConfig, startServer } from '@pico/server'
import { pino } from 'pino'

const folder = mkdtempSync(join(tmpdir(), 'pico-'))
const config = serverConfig({
  ...serveDefaults(),
  listen: '127.0.0.1:0', // any free port
  'kafka-listen': '127.0.0.1:0',
  'admin-listen': '127.0.0.1:0',
  'meta-url': `sqlite:${join(folder, 'meta.db')}`,
  storage: `-2@file://${join(folder, 'objects')}`,
})
const server = await startServer(config, { log: pino({ level: 'warn' }) })
const url = `http://${server.http?.host}:${server.http?.port}`
await fetch(`${url}/orders`, { method: 'PUT' })
await fetch(`${url}/orders`, { method: 'POST', body: 'hello' })
const read = await fetch(`${url}/orders?format=raw`)
console.log(`node ${server.nodeId} stored ${await read.text()} before offset ${read.headers.get('pico-next-seq')}`)
await server.close()

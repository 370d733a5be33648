import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { ChangeListener } from '../src/postgres/change-listener.ts'
import { clientConfig, defaultPoolSettings } from '../src/postgres/pool.ts'

it('closes while it waits for a server that accepts connections and says nothing', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = clientConfig(`postgres://pico@127.0.0.1:${port}/pico`, defaultPoolSettings)
  const listener = new ChangeListener({ client, channel: "'changes'", onStatement: undefined })
  listener.watch(() => undefined)
  await once(server, 'connection')
  const closed = listener.close().then(() => 'closed')
  const late = new Promise((resolve) => setTimeout(() => resolve('still open'), 2500))
  expect(await Promise.race([closed, late])).toBe('closed')
})

import { apiVersions, saslAuthenticate, saslHandshake } from '@pico/kafka-codec'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { defaultListenSettings, type KafkaListener, listenKafka } from '../src/listener.ts'
import { KafkaSystem } from './kafka-system.ts'
import { WireClient } from './wire-client.ts'

let system: KafkaSystem
let listener: KafkaListener
beforeEach(async () => {
  system = await KafkaSystem.open()
  const settings = { ...defaultListenSettings, host: '127.0.0.1', port: 0 }
  listener = await listenKafka({ api: system.api, log: system.log }, settings)
})
afterEach(async () => {
  await listener.close(0)
  await system.close()
})

it.each([0, 1])(
  'a SASL handshake of version %i ends the connection without an answer, with one warning',
  async (version) => {
    const client = await WireClient.connect(listener.port)
    client.send(apiVersions, 0, { clientSoftwareName: '', clientSoftwareVersion: '' })
    await client.answer(apiVersions, 0)
    client.send(saslHandshake, version, { mechanism: 'PLAIN' })
    client.send(saslHandshake, version, { mechanism: 'PLAIN' })
    await client.closed
    expect(client.received).toBe(0)
    const told = () => system.log.lines.filter(({ level }) => level !== 'debug')
    await vi.waitFor(() => expect(told()).toHaveLength(1))
    expect(told()).toMatchObject([{ level: 'warn', fields: { reason: expect.stringContaining('SASL') } }])
  },
)

it('neither is advertised', async () => {
  const { apiKeys } = await system.call(apiVersions, 4, { clientSoftwareName: 'x', clientSoftwareVersion: '1' })
  const keys = apiKeys.map(({ apiKey }) => apiKey)
  expect(keys).not.toContain(saslHandshake.key)
  expect(keys).not.toContain(saslAuthenticate.key)
})

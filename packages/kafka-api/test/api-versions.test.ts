import { readFileSync } from 'node:fs'
import { apiVersions, decodeResponse } from '@pico/kafka-codec'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KafkaSystem } from './kafka-system.ts'
import { requestBytes } from './wire-client.ts'

let system: KafkaSystem
beforeEach(async () => {
  system = await KafkaSystem.open()
})
afterEach(() => system.close())

const java = { clientSoftwareName: 'apache-kafka-java', clientSoftwareVersion: '4.4.0' }

describe('ApiVersions', () => {
  it.each([0, 1, 2, 3, 4])('version %i lists exactly what has a handler, itself first', async (version) => {
    const { errorCode, apiKeys } = await system.call(apiVersions, version, java)
    expect(errorCode).toBe(0)
    expect(apiKeys[0]?.apiKey).toBe(18)
    const listed = apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, minVersion, maxVersion])
    expect(listed.sort(([a = 0], [b = 0]) => a - b)).toEqual(
      system.api.served.map(({ key, versions }) => [key, ...versions]).sort(([a = 0], [b = 0]) => a - b),
    )
  })

  it.each([5, 6, 99])(
    'version %i, not served, is answered in version 0 with UNSUPPORTED_VERSION and the list',
    async (version) => {
      const frame = requestBytes(apiVersions, 4, java, 42).subarray(4)
      frame.writeInt16BE(version, 2)
      const answer = await system.send(frame)
      const { header, body } = decodeResponse(apiVersions, 0, answer!.subarray(4))
      expect(header.correlationId).toBe(42)
      expect(body).toMatchObject({
        errorCode: 35,
        apiKeys: [{ apiKey: 18, minVersion: 0, maxVersion: 4 }, ...system.api.served.slice(1).map(() => ({}))],
      })
      expect(body.apiKeys).toHaveLength(system.api.served.length)
    },
  )

  it.each(['', '-dash', 'spa ce', 'dot.'])('refuses the client software name %j', async (clientSoftwareName) => {
    expect(await system.call(apiVersions, 3, { ...java, clientSoftwareName })).toMatchObject({
      errorCode: 42,
      apiKeys: [],
    })
    expect(await system.call(apiVersions, 2, { ...java, clientSoftwareName })).toMatchObject({ errorCode: 0 })
  })
})

it('COMPATIBILITY.md says what is served, no more and no less', () => {
  const page = readFileSync(new URL('../COMPATIBILITY.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^\| (\d+) +\| (\w+) +\| (\d+)(?:-(\d+))? +\|/gm)].map(
    ([, key, name, first, last]) => `${key} ${name} ${first}-${last ?? first}`,
  )
  const served = system.api.served.map(({ key, name, versions: [first, last] }) => `${key} ${name} ${first}-${last}`)
  expect(documented.sort()).toEqual(served.sort())
})

import { accepts, freePort } from '../child-process.ts'
import { type PicoServer, type PicoSettings, startPico } from '../pico.ts'
import type { Doors } from './cross-stream.ts'

/** The built `pico serve` with every door that it has: Kafka, `--listen`, `--ds-listen`, `--admin-listen`. */
export async function serveDoors(settings: PicoSettings = {}): Promise<{ server: PicoServer; doors: Doors }> {
  const dsPort = await freePort()
  const flags = ['--ds-listen', `127.0.0.1:${dsPort}`, ...(settings.flags ?? [])]
  const server = await startPico({ ...settings, flags })
  const doors = { kafkaPort: server.port, picoUrl: server.httpUrl, dsUrl: `http://127.0.0.1:${dsPort}` }
  for (const deadline = Date.now() + 10_000; !(await accepts(dsPort)); ) {
    if (Date.now() > deadline) throw new Error('--ds-listen does not listen')
  }
  return { server, doors }
}

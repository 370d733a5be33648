import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { accepts, freePort, startProcess } from '../../child-process.ts'
import { serveDurableStreams } from '../../durable-streams/serve-durable-streams.ts'

/** Serves Durable Streams at `port`. */
export interface HttpContender {
  readonly name: 'pico' | 'durable-streams'
  readonly port: number
  readonly pid: number
  close(): Promise<unknown>
}

/** Pico and npm's `@durable-streams/server` on files, both speaking Durable Streams, each with a folder of its own. */
export async function openHttpContest(): Promise<readonly HttpContender[]> {
  const reference = await startReference()
  try {
    const pico = await serveDurableStreams()
    const port = Number(new URL(pico.httpUrl).port)
    return [reference, { name: 'pico', port, pid: pico.process.pid, close: () => pico.close() }]
  } catch (error) {
    await reference.close()
    throw error
  }
}

async function startReference(): Promise<HttpContender> {
  const folder = mkdtempSync(join(tmpdir(), 'durable-streams-'))
  const port = await freePort()
  const program = fileURLToPath(new URL('durable-streams-server.ts', import.meta.url))
  const running = await startProcess({
    name: 'durable-streams',
    ownSession: true,
    command: process.execPath,
    args: [program, `${port}`, folder],
    ready: () => accepts(port),
  })
  return {
    name: 'durable-streams',
    port,
    pid: running.pid,
    async close() {
      await running.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

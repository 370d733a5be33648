import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMemoryStore } from '@pico/storage/memory'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Closers } from '../src/closers.ts'
import { ReplacedError } from '../src/exit-errors.ts'
import { serveDefaults, serverConfig } from '../src/index.ts'
import { type NodeRuns, openMetadata } from '../src/open-persistence.ts'

let folder: string
let closers: Closers
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pico-runs-'))
  closers = new Closers()
})
afterEach(async () => {
  await closers.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Registers a run of node 1, as a process that has been `runs` before. */
async function start(runs: NodeRuns) {
  await closers.close()
  const config = serverConfig({ ...serveDefaults(), 'meta-url': `sqlite:${join(folder, 'meta.db')}` })
  return openMetadata(config, { store: openMemoryStore(), fault: null, closers, runs, onProblem: () => undefined })
}

it('a start that fails after it has registered is no other process to the next one', async () => {
  const runs: NodeRuns = { latest: null }
  await start(runs)
  // Whatever fails from here on, the run is there.
  const second = await start(runs)
  expect(runs.latest).toEqual(second.node)
  expect((await start(runs)).node.nodeEpoch).toBe(second.node.nodeEpoch + 1)
})

it('another process with the same node id is one, and this one must not come back', async () => {
  const runs: NodeRuns = { latest: null }
  await start(runs)
  await start({ latest: null })
  await expect(start(runs)).rejects.toThrow(ReplacedError)
})

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { run } from '../child-process.ts'

/** What a reader needs to know to judge the numbers. */
export async function machineFacts(asks: { readonly java: boolean }): Promise<Record<string, string>> {
  const java = asks.java ? (await run('java', ['-version'])).stderr.split('\n')[0] : undefined
  return {
    date: new Date().toISOString(),
    processor: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    memory: `${(totalmem() / 2 ** 30).toFixed(0)} GiB`,
    system: `${type()} ${release()}`,
    node: process.version,
    ...(java !== undefined && { java }),
    // Above the idle machine's zero, somebody else is using it and the numbers say little.
    'load before': (loadavg()[0] ?? 0).toFixed(2),
  }
}

/** Writes back what earlier runs left dirty, or it would be paid by whoever comes next. */
export async function settleDisk(): Promise<void> {
  await run('sync', [], { timeoutMs: 120_000 })
}

/** Bytes a second that the disk takes in writes of 8 MiB to a new file, each synced. */
export async function diskBytesPerSecond(): Promise<number> {
  await settleDisk()
  const folder = mkdtempSync(join(tmpdir(), 'disk-'))
  const piece = Buffer.alloc(8 * 1024 * 1024, 'x')
  const pieces = 64
  try {
    const file = await open(join(folder, 'file'), 'w')
    const begunMs = performance.now()
    for (let n = 0; n < pieces; n++) {
      await file.write(piece)
      await file.datasync()
    }
    const seconds = (performance.now() - begunMs) / 1000
    await file.close()
    return (pieces * piece.length) / seconds
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Empties the page cache, so that reads come from disk. False when this needs rights we have not got. */
export async function dropPageCache(): Promise<boolean> {
  await settleDisk()
  try {
    writeFileSync('/proc/sys/vm/drop_caches', '3\n')
    return true
  } catch (error) {
    console.warn(`the page cache was not emptied, so "from disk" is from memory: ${String(error)}`)
    return false
  }
}

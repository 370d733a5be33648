import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { scanSegment } from '@pico/storage'
import { openFileStore } from '@pico/storage/file'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { identity } from './wal-fixtures.ts'

/** A crash of the process only: what the kernel was given, it keeps. */
let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pico-crash-'))
})
afterEach(() => rm(folder, { recursive: true }))

test('after kill -9 every object that was acknowledged is there, every one that is there is whole, and nothing else', async () => {
  const script = `
    for (let i = start; ; i++) {
      const bytes = Buffer.alloc(200_000, i)
      await store.put('folder-' + (i % 3) + '/' + i, i % 2 ? [bytes] : (async function* () { yield bytes.subarray(0, 5); yield bytes.subarray(5) })())
      acknowledge(i)
    }`
  let start = 0
  for (let round = 0; round < 4; round++) {
    const acknowledged = await runAndKill(script, start, 30 + round * 23)
    const store = await openFileStore(folder)
    const found = new Set<number>()
    for await (const { key, sizeBytes } of store.list('folder')) {
      const i = Number(key.split('/')[1])
      expect(sizeBytes).toBe(200_000)
      expect((await store.get(key)).every((byte) => byte === i % 256)).toBe(true)
      found.add(i)
    }
    for (const i of acknowledged) expect(found).toContain(i)
    expect(acknowledged.length).toBeGreaterThan(0)
    expect((await readdir(folder, { recursive: true })).filter((name) => name.includes('~'))).toEqual([])
    start = Math.max(...found) + 1
  }
})

test('after kill -9 every frame that was acknowledged is read back, and at most one more', async () => {
  const sizeBytes = 32 * 1024 * 1024
  const script = `
    const { encodeSegmentHeader, encodeWalFrame } = await import(${JSON.stringify(source('index'))})
    const { crc32c } = await import(${JSON.stringify(import.meta.resolve('@pico/binary'))})
    const identity = ${JSON.stringify(identity)}
    const segment = await store.create('wal/' + start, ${sizeBytes})
    let position = 512
    for (let i = 0; ; i++) {
      const bytes = Buffer.alloc(1 + (i * 7919) % 300_000, i)
      const run = { streamId: 1, baseOffset: i, endOffset: i + 1, position: 52, lengthBytes: bytes.length, maxTimestampMs: -1, crc32c: crc32c(bytes), summary: Buffer.alloc(0) }
      const frame = encodeWalFrame({ identity: { ...identity, sequence: start }, position, committedBytes: position, body: [bytes], runs: [run] })
      if (position + frame.lengthBytes > ${sizeBytes}) await new Promise(() => setInterval(() => undefined, 1000))
      const header = encodeSegmentHeader({ identity: { ...identity, sequence: start }, sizeBytes: ${sizeBytes}, previous: null })
      if (i === 0) await segment.write(0, [header, ...frame.buffers])
      else await segment.write(position, frame.buffers)
      position += frame.lengthBytes
      acknowledge(i)
    }`
  for (let round = 0; round < 4; round++) {
    const acknowledged = await runAndKill(script, round, 20 + round * 31)
    const store = await openFileStore(folder)
    const key = `wal/${round}`
    const scan = await scanSegment((offset, length) => store.get(key, { offset, length }), {
      key,
      identity: { ...identity, sequence: round },
      sizeBytes,
      committedBytes: null,
    })
    const offsets = scan.frames.flatMap((frame) => frame.runs.map((run) => run.baseOffset))
    expect(offsets).toEqual(offsets.map((_, i) => i))
    expect(offsets.length - acknowledged.length).toBeOneOf([0, 1])
    expect(acknowledged.length).toBeGreaterThan(0)
  }
})

function source(name: string): string {
  return join(import.meta.dirname, `../src/${name}.ts`)
}

/**
 * Runs `script` in a process of its own, which has `store`, `start` and `acknowledge(number)`, and kills it `afterMs` after it has
 * acknowledged something. Resolves to the numbers it acknowledged.
 */
async function runAndKill(script: string, start: number, afterMs: number): Promise<number[]> {
  const path = join(folder, '..', `pico-crash-${process.pid}.mjs`)
  const program = `
    import { writeSync } from 'node:fs'
    import { openFileStore } from ${JSON.stringify(source('file'))}
    const store = await openFileStore(${JSON.stringify(folder)})
    const start = ${start}
    const acknowledge = (i) => writeSync(1, i + '\\n')
    ${script}`
  await writeFile(path, program)
  const child = spawn(process.execPath, ['--conditions=@pico/source', path], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    if (output === '') setTimeout(() => child.kill('SIGKILL'), afterMs)
    output += chunk.toString()
  })
  const ended = await new Promise((resolve) => child.on('close', (code, signal) => resolve(signal ?? code)))
  await rm(path)
  expect(ended).toBe('SIGKILL')
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => Number(line))
}

import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InvalidKeyError, ObjectMissingError, SegmentFailedError, StoreFailedError, systemCode } from '@pico/storage'
import { openFileStore } from '@pico/storage/file'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FileSegment } from '../src/file/file-segment.ts'
import { without } from '../src/file/write-fully.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pico-storage-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function names(under = folder): Promise<string[]> {
  const entries = await readdir(under, { recursive: true })
  return entries.sort()
}

describe('opening', () => {
  test('a folder that cannot be made is refused, not tried for ever', async () => {
    await writeFile(join(folder, 'letter'), '')
    await expect(openFileStore(join(folder, 'letter/below'))).rejects.toMatchObject({ code: 'EEXIST' })
    if (process.platform !== 'linux') return
    // A parent that takes no children, and says that it is missing.
    await expect(openFileStore('/proc/pico/objects')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('makes the folder, and finds again what an earlier store put there', async () => {
    const root = join(folder, 'not/yet/there')
    const first = await openFileStore(root)
    await first.put('a/b', [Buffer.from('kept')])
    await first.close()
    const second = await openFileStore(root)
    expect(Buffer.from(await second.get('a/b')).toString()).toBe('kept')
  })

  test('removes what a dead process left in the making, and folders that have long been empty', async () => {
    await mkdir(join(folder, 'wal/1'), { recursive: true })
    await mkdir(join(folder, 'empty/er'), { recursive: true })
    await mkdir(join(folder, 'new'))
    for (const old of ['empty/er', 'empty', 'wal/1']) await utimes(join(folder, old), twoHoursAgo(), twoHoursAgo())
    const dead = await deadProcessId()
    await writeFile(join(folder, `wal/1/~${dead}-x1-0`), 'half')
    await writeFile(join(folder, `wal/1/~${process.pid}-before-0`), 'of an earlier process with this id')
    await writeFile(join(folder, 'wal/1/7'), 'an object')
    await writeFile(join(folder, '~nonsense'), '')
    await openFileStore(folder)
    expect(await names()).toEqual(['empty', 'new', 'wal', 'wal/1', 'wal/1/7'])
    // It became empty only now, which changed its time.
    await utimes(join(folder, 'empty'), twoHoursAgo(), twoHoursAgo())
    await openFileStore(folder)
    expect(await names()).toEqual(['new', 'wal', 'wal/1', 'wal/1/7'])
  })

  test('leaves alone what a live process has in the making, unless it is long forgotten', async () => {
    const [fresh, old] = [join(folder, `~${process.ppid}-x1-0`), join(folder, `~${process.ppid}-x1-1`)]
    await writeFile(fresh, 'in the making')
    await writeFile(old, 'of a process on another machine')
    await utimes(old, twoHoursAgo(), twoHoursAgo())
    await openFileStore(folder)
    expect(await names()).toEqual([fresh.slice(folder.length + 1)])
  })

  test('does not disturb puts of another store in the same folder', async () => {
    const busy = await openFileStore(folder)
    const puts = Array.from({ length: 50 }, (_, i) => busy.put(`folder-${i % 10}/x/${i}`, [Buffer.alloc(1000, i)]))
    for (let i = 0; i < 5; i++) await openFileStore(folder)
    await Promise.all(puts)
    for (let i = 0; i < 50; i++) expect((await busy.get(`folder-${i % 10}/x/${i}`))[0]).toBe(i)
  })

  test('of a folder that cannot be one fails with the system’s error', async () => {
    await writeFile(join(folder, 'file'), '')
    const error = await openFileStore(join(folder, 'file')).catch((caught: unknown) => caught)
    expect(systemCode(error)).toBe('EEXIST')
  })
})

describe('puts', () => {
  test('leave nothing behind but the object, whether they succeed, fail or are aborted', async () => {
    const store = await openFileStore(folder)
    await store.put('a', [Buffer.from('x')])
    const failing = async function* () {
      yield Buffer.from('x')
      throw new Error('broken')
    }
    await expect(store.put('b', failing())).rejects.toThrow('broken')
    const controller = new AbortController()
    const aborting = async function* () {
      yield Buffer.from('x')
      controller.abort()
    }
    await expect(store.put('c', aborting(), { signal: controller.signal })).rejects.toThrow('aborted')
    expect(await names()).toEqual(['a'])
  })

  test('make their folder again when somebody removed it', async () => {
    const store = await openFileStore(folder)
    await store.put('a/b/c', [Buffer.from('x')])
    await rm(join(folder, 'a'), { recursive: true })
    await store.put('a/b/d', [Buffer.from('y')])
    expect(await names()).toEqual(['a', 'a/b', 'a/b/d'])
  })

  test('refuse a key that would need a file and a folder of one name', async () => {
    const store = await openFileStore(folder)
    await store.put('a', [Buffer.from('x')])
    await expect(store.put('a/b', [])).rejects.toThrow(InvalidKeyError)
    await store.put('c/d', [])
    await expect(store.put('c', [])).rejects.toThrow(InvalidKeyError)
    expect(await names()).toEqual(['a', 'c', 'c/d'])
  })

  test('of an object deleted or replaced, by this store or another process, are what the next get sees', async () => {
    const store = await openFileStore(folder)
    const other = await openFileStore(folder)
    const seen = async () => Buffer.from(await store.get('a', { offset: 0, length: 2 })).toString()
    for (const writer of [store, other]) {
      for (const version of ['one', 'two', 'three']) {
        await writer.put('a', [Buffer.from(version)])
        expect(await seen()).toBe(version.slice(0, 2))
      }
      await writer.delete(['a'])
      await expect(seen()).rejects.toThrow(ObjectMissingError)
    }
  })

  test('of more objects than are kept open read back, again and again, at once and one by one', async () => {
    const store = await openFileStore(folder)
    const keys = Array.from({ length: 200 }, (_, i) => `${i}`)
    await Promise.all(keys.map((key) => store.put(key, [Buffer.from(key)])))
    for (let round = 0; round < 3; round++) {
      const all = await Promise.all(keys.map((key) => store.get(key)))
      expect(all.map(String)).toEqual(keys)
      for (const key of keys) expect(String(await store.get(key))).toBe(key)
      await expect.poll(openFilesInFolder).toBeLessThanOrEqual(64)
    }
    const racing = keys.flatMap((key) => [
      store.get(key).then(String, (error: unknown) => error),
      store.delete([key]).then(() => store.get(key).catch((error: unknown) => error)),
    ])
    for (const result of await Promise.all(racing)) {
      if (typeof result !== 'string') expect(result).toBeInstanceOf(ObjectMissingError)
    }
    await store.close()
    await expect.poll(openFilesInFolder).toBe(0)
  })
})

describe('a file system that refuses', () => {
  // A limit on the size of files stands in for a full disk: the same calls fail, with EFBIG in place of ENOSPC.
  test('fails a put and a segment’s creation with the system’s code, and leaves nothing behind', async () => {
    const output = await runLimited(`
      const store = await openFileStore(process.argv[2])
      const large = Buffer.alloc(3 * 1024 * 1024)
      const stream = async function* () { for (let i = 0; i < 48; i++) yield large.subarray(0, 64 * 1024) }
      for (const attempt of [() => store.put('a/1', [large]), () => store.put('a/2', stream()), () => store.create('a/3', large.length)]) {
        const error = await attempt().catch((caught) => caught)
        console.log(error.code, error.cause?.code)
      }
      await store.put('a/4', [large.subarray(0, 512 * 1024)])
      for await (const info of store.list('')) console.log(info.key, info.sizeBytes)
    `)
    expect(output.trim().split('\n')).toEqual([...Array(3).fill('PICO_STORAGE_FAILED EFBIG'), `a/4 ${512 * 1024}`])
    expect(await names()).toEqual(['a', 'a/4'])
  })

  test('fails a segment write once and for all', async () => {
    await writeFile(join(folder, 'segment'), Buffer.alloc(4096))
    // Opened for reading only, so that the system refuses every write.
    const segment = new FileSegment('segment', 4096, openSync(join(folder, 'segment'), 'r'))
    const error = await segment.write(0, [Buffer.from('x')]).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(SegmentFailedError)
    expect(error).toMatchObject({ key: 'segment', code: 'PICO_STORAGE_SEGMENT_FAILED' })
    expect(systemCode((error as SegmentFailedError).cause)).toBe('EBADF')
    await expect(segment.write(0, [Buffer.from('x')])).rejects.toBe(error)
    await segment.close()
  })

  test('fails a get of what is no file with an error of the store', async () => {
    const store = await openFileStore(folder)
    await symlink('loop', join(folder, 'loop'))
    const error = await store.get('loop').catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(StoreFailedError)
    expect(systemCode((error as StoreFailedError).cause)).toBe('ELOOP')
  })
})

describe('segments', () => {
  test('have every block allocated before the first write, and keep it that way', async () => {
    const store = await openFileStore(folder)
    const sizeBytes = 9 * 1024 * 1024 + 512
    const segment = await store.create('wal/1', sizeBytes)
    const before = await stat(join(folder, 'wal/1'))
    expect(before.size).toBe(sizeBytes)
    expect(before.blocks * 512).toBeGreaterThanOrEqual(sizeBytes)
    await segment.write(512, [Buffer.alloc(100_000, 1)])
    expect((await store.get('wal/1', { offset: 512, length: 1 }))[0]).toBe(1)
    await segment.close()
    const recycled = await store.create('wal/2', sizeBytes, { recycle: 'wal/1' })
    await expect(store.get('wal/1', { offset: 0, length: 1 })).rejects.toThrow(ObjectMissingError)
    const after = await stat(join(folder, 'wal/2'))
    expect([after.ino, after.size, after.blocks]).toEqual([before.ino, before.size, before.blocks])
    await recycled.close()
  })
})

test('what a short write left over begins where that ended', () => {
  const buffers = ['ab', '', 'cde', 'f'].map((text) => Buffer.from(text))
  for (let count = 0; count <= 6; count++) {
    expect(Buffer.concat(without(buffers, count)).toString()).toBe('abcdef'.slice(count))
  }
})

/** Of this process. Zero where the system does not tell. */
async function openFilesInFolder(): Promise<number> {
  const descriptors = await readdir('/proc/self/fd').catch(() => [])
  const targets = await Promise.all(descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
  return targets.filter((target) => target.startsWith(folder)).length
}

function twoHoursAgo(): number {
  return Date.now() / 1000 - 7200
}

/** The id of a process that was there and is gone. */
function deadProcessId(): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' })
    child.on('error', reject).on('exit', () => resolve(child.pid!))
  })
}

/** Runs `script` on the package's sources in a process whose files cannot grow beyond 1 MiB; resolves to what it printed. */
async function runLimited(script: string): Promise<string> {
  const source = join(dirname(fileURLToPath(import.meta.url)), '../src/file.ts')
  const program = `import { openFileStore } from ${JSON.stringify(source)}\n${script}`
  const path = join(tmpdir(), `pico-limited-${process.pid}.mjs`)
  const outputPath = `${path}.out`
  await writeFile(path, program)
  const output = openSync(outputPath, 'w+')
  try {
    const child = spawn(
      'sh',
      ['-c', 'trap "" XFSZ; ulimit -f 2048; exec "$0" --conditions=@pico/source "$@"', process.execPath, path, folder],
      { stdio: ['ignore', output, 'inherit'] },
    )
    const code = await new Promise((resolve) => child.on('exit', resolve))
    expect(code).toBe(0)
    return await readFile(outputPath, 'utf8')
  } finally {
    closeSync(output)
    await rm(path, { force: true })
    await rm(outputPath, { force: true })
  }
}

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { DatabaseLockedError, MetadataUnavailableError } from '../src/errors.ts'
import { openSqliteMetadata } from '../src/sqlite.ts'

const folder = mkdtempSync(join(tmpdir(), 'pico-metadata-file-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const openAndSay = join(import.meta.dirname, 'kill/open-and-say.ts')
const orders = {
  name: '/orders',
  topic: 'orders',
  partition: 0,
  topicId: '6f2b1c9e-0a4d-4b57-9a53-1d2f3c4b5a69',
  contentType: 'application/octet-stream',
  config: {},
}

describe('a database file', () => {
  it('is refused where its folder cannot be made', async () => {
    if (process.platform !== 'linux') return
    await expect(openSqliteMetadata({ path: '/proc/pico/meta.db' })).rejects.toThrow('/proc/pico/meta.db')
  })

  it('is made with the folders above it, and keeps what was committed', async () => {
    const path = join(folder, 'deep/down/meta.db')
    const first = await openSqliteMetadata({ path })
    const clusterId = await first.nodes.clusterId()
    const created = await first.streams.create([orders], 1)
    await first.close()
    const second = await openSqliteMetadata({ path })
    expect(await second.nodes.clusterId()).toBe(clusterId)
    expect(await second.streams.byTopic(['orders'])).toEqual(created)
    expect(await second.nodes.reserve('objectId', 5)).toBe(1)
    await second.close()
    const third = await openSqliteMetadata({ path })
    expect(await third.nodes.reserve('objectId', 5)).toBe(6)
    await third.close()
  })

  it('is not made, nor brought up to date, for who only looks', async () => {
    const missing = join(folder, 'missing/meta.db')
    await expect(openSqliteMetadata({ path: missing, asItIs: true })).rejects.toMatchObject({
      code: 'PICO_METADATA_UNAVAILABLE',
      cause: { message: 'there is no such file' },
    })
    expect(existsSync(join(folder, 'missing'))).toBe(false)
    const foreign = join(folder, 'foreign.db')
    new DatabaseSync(foreign).close()
    await expect(openSqliteMetadata({ path: foreign, asItIs: true })).rejects.toMatchObject({
      cause: { message: 'it has none of our tables' },
    })
    const path = join(folder, 'looked-at.db')
    await (await openSqliteMetadata({ path })).close()
    const looking = await openSqliteMetadata({ path, asItIs: true })
    expect(await looking.streams.count()).toBe(0)
    await looking.close()
    const database = new DatabaseSync(path)
    database.exec("delete from kysely_migration where name like '0006%'; drop table changes")
    database.close()
    await expect(openSqliteMetadata({ path, asItIs: true })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('earlier version') },
    })
  })

  it('turns a second process away at once, with one line that says why', async () => {
    const path = join(folder, 'held.db')
    const holder = await openSqliteMetadata({ path })
    const { stdout, stderr } = spawnSync(process.execPath, [openAndSay, path], { encoding: 'utf8' })
    expect(stdout).toBe(`PICO_METADATA_LOCKED: database ${path} is in use by another process\n`)
    expect(stderr).toBe('')
    await holder.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
    await holder.close()
    expect(spawnSync(process.execPath, [openAndSay, path], { encoding: 'utf8' }).stdout).toBe('opened\n')
  })

  it('is turned away by a process that holds it, until that is killed', async () => {
    const path = join(folder, 'held-by-other.db')
    const holder = spawn(process.execPath, [openAndSay, path, 'hold'], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    await expect(openSqliteMetadata({ path })).rejects.toThrow(DatabaseLockedError)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    await (await openSqliteMetadata({ path })).close()
  })

  it('cannot be opened twice in one process', async () => {
    const path = join(folder, 'twice.db')
    const first = await openSqliteMetadata({ path })
    await expect(openSqliteMetadata({ path })).rejects.toThrow(DatabaseLockedError)
    await first.nodes.register({ nodeId: 1, addresses: {}, slots: 1 }, 1)
    await first.close()
  })

  it('is refused by name when it is something else', async () => {
    const path = join(folder, 'letter.txt')
    writeFileSync(path, 'Dear database,\n'.repeat(100))
    const opening = openSqliteMetadata({ path })
    await expect(opening).rejects.toThrow(MetadataUnavailableError)
    await expect(opening).rejects.toThrow(`opening database ${path}: file is not a database`)
    await expect(openSqliteMetadata({ path: folder })).rejects.toThrow(`opening database ${folder}`)
  })

  it('is refused when a newer version has changed its tables', async () => {
    const path = join(folder, 'future.db')
    await (await openSqliteMetadata({ path })).close()
    const database = new DatabaseSync(path)
    database.exec(`insert into kysely_migration (name, timestamp) values ('9999_future', '2099-01-01T00:00:00.000Z')`)
    database.close()
    await expect(openSqliteMetadata({ path })).rejects.toThrow('9999_future')
  })

  // A limit on the size of files stands in for a full disk; lifting it takes prlimit, of util-linux.
  it.runIf(process.platform === 'linux')(
    'says so when it cannot grow, loses nothing, and serves on once it can',
    () => {
      const script = join(import.meta.dirname, 'kill/fill-up.ts')
      const limited = `trap '' XFSZ; ulimit -S -f 2000; exec "$0" "$1" "$2"`
      const path = join(folder, 'full.db')
      const { stdout } = spawnSync('sh', ['-c', limited, process.execPath, script, path], { encoding: 'utf8' })
      const said = JSON.parse(stdout)
      expect(said).toMatchObject({ code: 'PICO_METADATA_UNAVAILABLE', failed: 2 })
      expect(said.message).toContain('while creating streams')
      expect(said.createdWhenFull).toBeGreaterThan(5)
      expect(said.foundWhenFull).toBe(said.createdWhenFull)
      expect(said.created).toBe(said.createdWhenFull + 1)
      expect(said.found).toBe(said.created)
    },
  )

  it('is in write-ahead mode', async () => {
    const path = join(folder, 'mode.db')
    await (await openSqliteMetadata({ path })).close()
    const database = new DatabaseSync(path)
    expect(database.prepare('pragma journal_mode').get()).toEqual({ journal_mode: 'wal' })
    database.close()
  })
})

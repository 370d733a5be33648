import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { serveDefaults, serverConfig, startServer } from '../src/index.ts'
import { runPico } from './run-pico.ts'

const folder = mkdtempSync(join(tmpdir(), 'pico-verify-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
afterEach(() => {
  vi.restoreAllMocks()
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners('error') // a command is a process of its own
})

/** A database with its store beside it. */
interface System {
  readonly folder: string
  readonly flags: readonly string[]
}

function systemIn(path: string, wal?: string): System {
  const storage = `-2@file://${join(path, 'objects')}`
  return {
    folder: path,
    flags: [
      ...['--meta-url', `sqlite:${join(path, 'meta.db')}`, '--storage', storage],
      ...(wal === undefined ? [] : ['--wal', `${storage}?${wal}`]),
    ],
  }
}

/** Packed, and stopped in good order. */
const packed = systemIn(join(folder, 'packed'))
/** As a power cut leaves it: what was appended last is in the write-ahead log alone. */
const cut = {
  segment: systemIn(join(folder, 'cut-segment')),
  object: systemIn(join(folder, 'cut-object'), 'kind=object'),
}

beforeAll(async () => {
  await make(packed, { 'wal-upload-threshold': '1' }, async (append, closed) => {
    for (let round = 0; round < 3; round++) {
      for (const name of ['a', 'b']) await append(name, 'x'.repeat(100_000))
      await vi.waitFor(() => expect(keys(packed, 'data').length).toBeGreaterThan(round), 10_000)
    }
    await closed()
  })
  for (const kind of ['segment', 'object'] as const) {
    const live = systemIn(join(folder, `live-${kind}`), `kind=${kind}`)
    await make(live, {}, async (append) => {
      for (const name of ['a', 'b', 'a']) await append(name, `some ${name}`)
      cpSync(live.folder, cut[kind].folder, { recursive: true })
    })
  }
}, 60_000)

async function make(
  { flags }: System,
  settings: Record<string, string>,
  use: (append: (name: string, body: string) => Promise<void>, closed: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const given = Object.fromEntries(flags.flatMap((flag, at) => (at % 2 === 0 ? [[flag.slice(2), flags[at + 1]]] : [])))
  const listeners = Object.fromEntries(['listen', 'kafka-listen', 'admin-listen'].map((flag) => [flag, '127.0.0.1:0']))
  const config = serverConfig({ ...serveDefaults(), ...listeners, ...settings, ...given })
  const server = await startServer(config, { log: pino({ level: 'silent' }) })
  const url = `http://127.0.0.1:${server.http?.port}`
  let closed: Promise<void> | null = null
  const close = () => (closed ??= server.close())
  try {
    for (const name of ['a', 'b']) await fetch(`${url}/${name}`, { method: 'PUT' })
    await use(async (name, body) => {
      expect((await fetch(`${url}/${name}`, { method: 'POST', body })).ok).toBe(true)
    }, close)
  } finally {
    await close()
  }
}

/** One that a test may break. */
function copyOf(system: System): System {
  const copy = mkdtempSync(join(folder, 'copy-'))
  cpSync(system.folder, copy, { recursive: true })
  return systemIn(copy, system.flags.includes('--wal') ? 'kind=object' : undefined)
}

/** Of objects, lowest first. */
function keys(system: System, prefix: string): string[] {
  const root = join(system.folder, 'objects', prefix)
  if (!existsSync(root)) return []
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(system.folder, 'objects/').length))
    .sort()
}

const fileOf = (system: System, key: string) => join(system.folder, 'objects', key)

function inSql(system: System, ...statements: string[]): void {
  const database = new DatabaseSync(join(system.folder, 'meta.db'))
  database.exec('pragma foreign_keys = off')
  for (const statement of statements) database.exec(statement)
  database.close()
}

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at)
  writeFileSync(path, bytes)
}

async function verify(system: Pick<System, 'flags'>, ...flags: string[]) {
  return runPico(['admin', 'verify', ...system.flags, ...flags])
}

/** The findings, after the line that says that there are any. */
async function findings(
  system: System,
  ...flags: string[]
): Promise<{ kind: string; subject: string; what: string }[]> {
  const { exitCode, stdout, stderr } = await verify(system, '--json', ...flags)
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const verdict = lines.pop()
  expect(verdict).toMatchObject({ proven: lines.length === 0, findings: lines.length, isCutShort: false })
  expect(exitCode).toBe(lines.length === 0 ? 0 : 1)
  if (lines.length > 0) expect(stderr).toMatch(/^pico: \d+ findings?: database and store do not agree\n$/)
  return lines
}

describe('pico admin verify proves', () => {
  it('a system that was stopped in good order', async () => {
    const { exitCode, stdout, stderr } = await verify(packed)
    expect(stdout).toMatch(
      /^\d+ streams, \d+ extents, [1-9]\d* objects needed, \d+ doomed, \d+ uploads announced, .*bytes\n$/,
    )
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  })

  it('every byte that is needed, when told to', async () => {
    const { exitCode, stdout } = await verify(packed, '--deep', '--json')
    expect(exitCode).toBe(0)
    const { counts } = JSON.parse(stdout)
    expect(counts.verifiedBytes).toBeGreaterThan(600_000)
    expect(counts.storedBytes).toBeGreaterThan(600_000)
  })

  it.each(['segment', 'object'] as const)('what a power cut leaves of a log in kind=%s', async (kind) => {
    expect(await findings(cut[kind], '--deep')).toEqual([])
  })
})

describe('pico admin verify finds', () => {
  it('an object that is needed and is not there, or not all of it', async () => {
    const system = copyOf(packed)
    const [first = '', second = ''] = keys(system, 'data')
    rmSync(fileOf(system, first))
    truncateSync(fileOf(system, second), 100)
    const found = await findings(system, '--deep')
    expect(found).toMatchObject([
      { kind: 'missing', subject: first },
      { kind: 'short', subject: second, what: expect.stringContaining('the store has 100') },
    ])
    const { stdout } = await verify(system)
    expect(stdout).toMatch(
      new RegExp(`^missing     ${first}: \\d+ bytes are needed by \\d+ extents, and it is not in the store\n`),
    )
  })

  it('a WAL object that is needed and is not there', async () => {
    const system = copyOf(cut.object)
    const [key = ''] = keys(system, 'wal')
    rmSync(fileOf(system, key))
    expect(await findings(system)).toMatchObject([{ kind: 'missing', subject: key }])
  })

  it('an object that no row knows, once it is older than the bound', async () => {
    const system = copyOf(packed)
    const strays = ['data/stray', 'other/stray']
    for (const key of strays) {
      mkdirSync(join(fileOf(system, key), '..'), { recursive: true })
      writeFileSync(fileOf(system, key), 'x')
    }
    expect(await findings(system)).toEqual([])
    for (const key of strays) utimesSync(fileOf(system, key), new Date(), new Date(Date.now() - 3 * 3600_000))
    const what = 'no row knows it, and it was put 3 h ago'
    expect(await findings(system)).toEqual(strays.map((subject) => ({ kind: 'stray', subject, what })))
    expect(await findings(system, '--bound-sec', '14400')).toEqual([])
  })

  it('what was doomed and is overdue, and no upload that is still announced', async () => {
    const system = copyOf(packed)
    const insert = 'insert into doomed_objects (object_key, doomed_at_ms) values'
    const hour = 3600_000
    inSql(system, `${insert} ('data/old', ${Date.now() - 3 * hour}), ('data/due', ${Date.now() + hour})`)
    inSql(system, `${insert} ('data/just-now', ${Date.now() - hour})`)
    const what = 'doomed 3 h ago, and its row is still there'
    expect(await findings(system)).toEqual([{ kind: 'overdue', subject: 'data/old', what }])
  })

  it('rows of objects that are not as the extents are', async () => {
    const system = copyOf(packed)
    const [first = ''] = keys(system, 'data')
    writeFileSync(fileOf(system, 'data/unused'), 'x')
    inSql(
      system,
      `update data_objects set live_bytes = live_bytes + 1 where object_key = '${first}'`,
      "insert into data_objects (object_id, object_key, length_bytes, live_bytes, extent_count) values (999, 'data/unused', 1, 0, 0)",
    )
    expect(await findings(system)).toMatchObject([
      { kind: 'miscounted', subject: first },
      { kind: 'unused', subject: 'data/unused' },
    ])
  })

  it.each([
    [
      'a gap',
      'delete from extents where stream_id = :a and base_offset = (select min(base_offset) from extents where stream_id = :a and base_offset > 0)',
      'gap',
    ],
    [
      'an end before the packed offset',
      'update streams set packed_offset = packed_offset + 1 where stream_id = :a',
      'gap',
    ],
    ['a start after the watermark', 'delete from extents where stream_id = :a and base_offset = 0', 'gap'],
    ['no extent at all', 'delete from extents where stream_id = :a', 'gap'],
    [
      'an extent past the end of its object',
      'update extents set position = 1000000000 where stream_id = :a and base_offset = 0',
      'malformed',
    ],
    [
      'an extent without an object',
      'update extents set object_id = 12345 where stream_id = :a and base_offset = 0',
      'malformed',
    ],
    [
      'an extent of nothing',
      'update extents set length_bytes = 0 where stream_id = :a and base_offset = 0',
      'malformed',
    ],
    [
      'a sum that is not that of the extents',
      'update streams set packed_bytes = packed_bytes + 1 where stream_id = :a',
      'miscounted',
    ],
    ['rows of a stream that was deleted', 'update streams set life = 2 where stream_id = :a', 'leftover'],
  ])('%s', async (_, statement, kind) => {
    const system = copyOf(packed)
    inSql(system, statement.replaceAll(':a', "(select stream_id from streams where name = '/a')"))
    const ofStream = (await findings(system)).filter(({ subject }) => subject === 'stream /a')
    expect(ofStream.map((finding) => finding.kind)).toContain(kind)
  })

  it('acknowledged entries that neither extents nor the write-ahead log have', async () => {
    const system = copyOf(cut.object)
    const first = 'select min(sequence) from wal_objects'
    inSql(system, `delete from wal_objects where sequence = (${first})`)
    const what = 'offsets 0 to 1 are neither packed nor in the write-ahead log'
    expect(await findings(system)).toEqual([{ kind: 'gap', subject: 'stream /a', what }])
    inSql(system, `update wal_objects set wal_index = x'ff' where sequence = (${first})`)
    expect(await findings(system)).toContainEqual(
      expect.objectContaining({ kind: 'malformed', subject: keys(system, 'wal')[1] }),
    )
  })

  it('rows of a stream that is not there', async () => {
    const system = copyOf(packed)
    inSql(system, 'insert into stream_epochs (stream_id, leader_epoch, start_offset) values (777, 1, 0)')
    expect(await findings(system)).toMatchObject([{ kind: 'leftover', subject: 'stream id 777' }])
  })

  it('a byte of a data object that is not what it was, when told to read', async () => {
    const system = copyOf(packed)
    const [key = ''] = keys(system, 'data')
    flipByte(fileOf(system, key), 1000)
    expect(await findings(system)).toEqual([])
    expect(await findings(system, '--deep')).toMatchObject([{ kind: 'damaged', subject: key }])
    flipByte(fileOf(system, key), 1000)
    flipByte(fileOf(system, key), statSync(fileOf(system, key)).size - 20)
    expect(await findings(system, '--deep')).toMatchObject([{ kind: 'damaged', subject: key }])
  })

  it('a row of an extent that is not what the footer of its object says', async () => {
    const system = copyOf(packed)
    inSql(system, 'update extents set object_stream_id = 555 where base_offset = 0')
    expect((await findings(system, '--deep')).map(({ kind }) => kind)).toContain('damaged')
  })

  it('a byte of the write-ahead log that is not what it was', async () => {
    for (const kind of ['segment', 'object'] as const) {
      const system = copyOf(cut[kind])
      const [key = ''] = keys(system, 'wal')
      // In a segment the first frame of several; its last one could be a tail that was never acknowledged.
      flipByte(fileOf(system, key), kind === 'segment' ? 512 + 60 : 60)
      expect(await findings(system)).toEqual([])
      expect(await findings(system, '--deep'), kind).toMatchObject([{ kind: 'damaged', subject: key }])
    }
  })

  it('no more than was asked for', async () => {
    const system = copyOf(packed)
    for (const key of keys(system, 'data')) rmSync(fileOf(system, key))
    const { exitCode, stdout, stderr } = await verify(system, '--max-findings', '1')
    expect(exitCode).toBe(1)
    expect(stdout.match(/^missing/gm)).toHaveLength(1)
    expect(stderr).toBe('pico: more than 1 findings (--max-findings): there may be many more\n')
  })
})

describe('pico admin verify says in one line', () => {
  it('that a server has the database', async () => {
    const live = systemIn(join(folder, 'live'))
    await make(live, {}, async () => {
      const { exitCode, stdout, stderr } = await verify(live)
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
      expect(stderr).toMatch(
        /^pico: the database .*meta\.db \(--meta-url\) is in use: a server on SQLite .* has stopped\n$/,
      )
    })
    expect(await findings(live, '--deep')).toEqual([])
  })

  it('that there is no such database, or no such folder, and makes none', async () => {
    const nothing = systemIn(join(folder, 'nothing'))
    expect(await verify(nothing)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^pico: cannot use the database .* \(--meta-url\): there is no such file\n$/),
    })
    expect(existsSync(nothing.folder)).toBe(false)
    const system = copyOf(packed)
    rmSync(join(system.folder, 'objects'), { recursive: true })
    expect(await verify(system)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^pico: the folder .*objects \(--storage\) is not there\n$/),
    })
    expect(existsSync(join(system.folder, 'objects'))).toBe(false)
  })

  it.each([
    [['--meta-url', 'mysql://x'], /--meta-url/],
    [['--meta-url', 'sqlite::memory:'], /--meta-url sqlite::memory: is gone/],
    [['--storage', 'nonsense'], /--storage/],
    [['--bound-sec', 'soon'], /--bound-sec soon/],
    [['--admin-endpoint', 'http://127.0.0.1:1'], /asks no server/],
    [['--kafka-listen', '127.0.0.1:1'], /kafka-listen/],
  ])('that %s is not understood', async (flags, problem) => {
    const { exitCode, stderr } = await verify({ flags: [] }, ...flags)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(problem)
  })
})

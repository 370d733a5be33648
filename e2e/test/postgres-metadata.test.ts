import { metadataConformance } from '@pico/metadata/conformance'
import { afterAll, afterEach, beforeAll, describe } from 'vitest'
import { EmptyDatabases } from '../src/cluster/empty-databases.ts'
import { type PostgresServer, startPostgres } from '../src/cluster/postgres.ts'

/** Random histories tried; a long run tries thousands. */
const historyRuns = Number(process.env['E2E_POSTGRES_HISTORIES'] ?? 4)

describe('the metadata contract on Postgres', () => {
  let server: PostgresServer
  let databases: EmptyDatabases

  beforeAll(async () => {
    server = await startPostgres()
    databases = new EmptyDatabases(server)
  })
  afterEach(() => databases.closeAll())
  afterAll(() => server.close())

  metadataConformance((settings) => databases.open(settings), { historyRuns })
})

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../child-process.ts'
import { cliOf } from '../pico.ts'
import { type ClusterNode, startClusterNode } from './cluster-node.ts'
import { type PostgresServer, startPostgres } from './postgres.ts'
import { type S3FaultProxy, startS3FaultProxy } from './s3-fault-proxy.ts'
import { newPrefix, startS3, storageUri } from './s3-service.ts'

export interface ClusterSettings {
  readonly nodes: number
  /** The defaults of `pico serve` when left out: 2.5 s and 10 s. */
  readonly heartbeatMs?: number
  readonly nodeTtlMs?: number
  /** More flags of `pico serve`, for every node. */
  readonly flags?: readonly string[]
  /** Postgres counts statements (pg_stat_statements). */
  readonly countsStatements?: boolean
}

/** Nodes as processes, with a Postgres and an S3 of their own, which can be made to fail. */
export interface Cluster {
  readonly nodes: readonly ClusterNode[]
  readonly postgres: PostgresServer
  readonly metaUrl: string
  /** `-2@s3://…`, by way of `s3`, and the environment that goes with it. */
  readonly storage: string
  readonly env: Readonly<Record<string, string>>
  /** Stands between the nodes and S3. */
  readonly s3: S3FaultProxy
  /** Where the nodes write their logs: kept when told so. */
  readonly folder: string
  /** `pico admin verify` on all that is stored, every byte of it. @throws Error with what it found */
  verify(): Promise<void>
  /** The last lines of every node's log. */
  logs(bytesOfEach?: number): string
  /** Ends everything. `keepLogs`: the folder stays. */
  close(settings?: { readonly keepLogs?: boolean }): Promise<void>
}

/** The first node makes the tables; the others start together. Prints which services it uses. */
export async function startCluster(settings: ClusterSettings): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'pico-cluster-'))
  const postgres = await startPostgres({ durable: true, countsStatements: settings.countsStatements ?? false })
  const service = await startS3()
  const s3 = await startS3FaultProxy(service.endpoint ?? `https://s3.${service.region}.amazonaws.com`)
  const nodes: ClusterNode[] = []
  const close = async ({ keepLogs = false } = {}) => {
    for (const node of nodes) await node.kill()
    await s3.close()
    await service.close()
    await postgres.close()
    if (!keepLogs) rmSync(folder, { recursive: true, force: true })
  }
  try {
    const metaUrl = await postgres.createDatabase()
    const storage = storageUri(service, newPrefix(service), s3.endpoint)
    const flags = [...timesOf(settings), ...(settings.flags ?? [])]
    const start = (nodeId: number) => startClusterNode({ nodeId, metaUrl, storage, flags, env: service.env, folder })
    nodes.push(await start(1))
    const others = Array.from({ length: settings.nodes - 1 }, (_, index) => start(index + 2))
    nodes.push(...(await Promise.all(others)))
    return {
      ...{ nodes, postgres, metaUrl, storage, env: service.env, s3, folder },
      async verify() {
        const words = ['admin', 'verify', '--deep', '--meta-url', metaUrl, `--storage=${storage}`]
        const { stdout } = await run(process.execPath, [...cliOf(), ...words], { env: service.env, timeoutMs: 120_000 })
        console.log(stdout.toString().trim())
      },
      logs: (bytesOfEach = 4000) =>
        nodes.map(({ nodeId, logFile }) => `node ${nodeId}:\n${tailOf(logFile, bytesOfEach)}`).join('\n'),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function timesOf({ heartbeatMs, nodeTtlMs }: ClusterSettings): string[] {
  return [
    ...(heartbeatMs === undefined ? [] : ['--heartbeat-ms', `${heartbeatMs}`]),
    ...(nodeTtlMs === undefined ? [] : ['--node-ttl-ms', `${nodeTtlMs}`]),
  ]
}

function tailOf(file: string, bytes: number): string {
  return readFileSync(file, 'utf8').slice(-bytes)
}

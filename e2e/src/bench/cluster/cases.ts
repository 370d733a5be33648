import type { Row } from '../report.ts'
import type { RoundSettings } from '../rounds.ts'
import { benchFailover } from './failover.ts'
import { benchS3Cost } from './s3-cost.ts'
import { benchScale } from './scale.ts'
import { benchSigterm } from './sigterm.ts'
import { benchSqlCost } from './sql-cost.ts'
import { benchTransfers } from './transfer.ts'

/** Several nodes on one Postgres and one S3: what moving streams between them takes, and what they cost. */
export async function benchCluster(settings: RoundSettings): Promise<Row[]> {
  const rows: Row[] = []
  for (const part of [benchFailover, benchTransfers, benchSigterm, benchSqlCost, benchS3Cost, benchScale]) {
    rows.push(...(await part(settings)))
  }
  return rows
}

import type { Row } from '../report.ts'
import type { RoundSettings } from '../rounds.ts'
import { benchFailover } from './failover.ts'

/** Several nodes on one Postgres and one S3: what moving streams between them takes, and what they cost. */
export async function benchCluster(settings: RoundSettings): Promise<Row[]> {
  return [...(await benchFailover(settings))]
}

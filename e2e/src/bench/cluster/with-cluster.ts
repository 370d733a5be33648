import { type Cluster, type ClusterSettings, startCluster } from '../../cluster/cluster.ts'
import { type DatabaseMeter, openDatabaseMeter } from './statements.ts'

/** A cluster for as long as the work takes. What its nodes said is shown when the work fails. */
export async function withCluster<T>(settings: ClusterSettings, work: (cluster: Cluster) => Promise<T>): Promise<T> {
  const cluster = await startCluster(settings)
  try {
    return await work(cluster)
  } catch (error) {
    console.error(cluster.logs())
    throw error
  } finally {
    await cluster.close()
  }
}

/** The same with a meter at its database. */
export function withMeteredCluster<T>(
  settings: ClusterSettings,
  work: (cluster: Cluster, meter: DatabaseMeter) => Promise<T>,
): Promise<T> {
  return withCluster({ ...settings, countsStatements: true }, async (cluster) => {
    const meter = await openDatabaseMeter(cluster.metaUrl)
    try {
      return await work(cluster, meter)
    } finally {
      await meter.close()
    }
  })
}

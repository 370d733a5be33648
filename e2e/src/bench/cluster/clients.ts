import type { Cluster } from '../../cluster/cluster.ts'
import { Seeded } from '../../cross/seeded.ts'
import { httpClient } from './http-client.ts'
import { kafkaClient } from './kafka-client.ts'
import type { AppendingClient } from './outcome.ts'

/** Streams that one Kafka client writes to. */
const topicsOfClient = 25
const recordBytes = 100

/** Half of the streams get an HTTP client, the others Kafka clients with 25 topics each. */
export function clientsFor(
  { nodes }: Cluster,
  streams: readonly string[],
): { readonly writers: { readonly stream: string; readonly client: AppendingClient }[]; close(): void } {
  const record = Buffer.alloc(recordBytes, 'x')
  const ports = nodes.map(({ kafkaPort }) => kafkaPort)
  const http = httpClient(
    nodes.map(({ httpUrl }) => httpUrl),
    record,
  )
  const kafka: AppendingClient[] = []
  // At random, or who has which would go with the turns in which streams are placed.
  const writers = new Seeded(2).shuffled(streams).map((stream, index) => {
    if (index % 2 === 0) return { stream, client: http }
    const number = Math.floor(index / 2 / topicsOfClient)
    const client = kafka[number] ?? kafkaClient(ports, record)
    kafka[number] = client
    return { stream, client }
  })
  return {
    writers,
    close() {
      http.close()
      for (const client of kafka) client.close()
    },
  }
}

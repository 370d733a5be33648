import { describeLogDirs } from '@pico/kafka-codec'
import type { PartitionSize } from '@pico/streams'
import { objectStorage } from '../configs/broker-configs.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * DescribeLogDirs 1-4 (KIP-113): the store as the one directory there is, with the bytes that each partition holds, compressed as they
 * are stored. Opens nothing. Unknown topics and partitions are left out, as in Kafka.
 * v3: an error of the whole. v4: the size of the volume, which an object store does not have: -1.
 * Left out: v5, cordoned directories.
 */

/** Topics sized at a time where all are asked for. */
const sizedTogether = 500

interface Sized {
  readonly name: string
  readonly partitions: readonly PartitionSize[]
}

export function describeLogDirsHandler({ streams, explain }: Dependencies): Handler {
  return handler({
    api: describeLogDirs,
    versions: [1, 4],
    largeAnswer: true,
    async handle({ topics }) {
      try {
        return directory(0, topics === null ? await everyTopic() : await named(topics))
      } catch (error) {
        return directory(explain(error, 'read'), [])
      }
    },
    fail: (_, errorCode) => ({ throttleTimeMs: 0, errorCode, results: [] }),
  })

  async function named(asked: readonly { readonly topic: string; readonly partitions: readonly number[] }[]) {
    const sizes = await sized(asked.map(({ topic }) => topic))
    const wanted = new Map(asked.map(({ topic, partitions }) => [topic, new Set(partitions)]))
    return sizes
      .map(({ name, partitions }) => ({
        name,
        partitions: partitions.filter(({ partition }) => wanted.get(name)?.has(partition)),
      }))
      .filter(({ partitions }) => partitions.length > 0)
  }

  async function everyTopic(): Promise<Sized[]> {
    const names: string[] = []
    for await (const { name } of streams.listTopics()) names.push(name)
    const sizes: Sized[] = []
    for (let at = 0; at < names.length; at += sizedTogether) {
      sizes.push(...(await sized(names.slice(at, at + sizedTogether))))
    }
    return sizes
  }

  async function sized(names: readonly string[]): Promise<Sized[]> {
    const unique = [...new Set(names)]
    const sizes = await streams.topicSizes(unique.map((name) => ({ name })))
    return unique.flatMap((name, index) => {
      const partitions = sizes[index]
      return partitions === undefined ? [] : [{ name, partitions }]
    })
  }
}

function directory(errorCode: number, topics: readonly Sized[]) {
  return {
    throttleTimeMs: 0,
    errorCode: 0,
    results: [
      {
        errorCode,
        logDir: objectStorage,
        topics: topics.map(({ name, partitions }) => ({
          name,
          partitions: partitions.map(({ partition, sizeBytes }) => ({
            partitionIndex: partition,
            partitionSize: BigInt(sizeBytes),
            offsetLag: 0n,
            isFutureKey: false,
          })),
        })),
      },
    ],
  }
}

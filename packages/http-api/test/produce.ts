import { BatchBuilder, type BatchBuilderSettings, type RecordInput } from '@pico/record-batch'
import type { PathStream } from '@pico/streams'

/** As a Kafka client writes them. */
export async function produce(
  stream: PathStream,
  records: readonly RecordInput[],
  settings: BatchBuilderSettings = {},
): Promise<void> {
  const builder = new BatchBuilder(settings)
  for (const record of records) builder.append(record)
  const { accepted, refused } = stream.append(builder.build(), { zstdAllowed: true })
  if (accepted === undefined) throw new Error(JSON.stringify(refused))
  await accepted.committed
}

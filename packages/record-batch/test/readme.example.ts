import { BatchBuilder, BatchView, defaultProduceRules, records, validateProduced } from '@pico/record-batch'

const builder = new BatchBuilder({ codec: 'zstd', producerId: 1, producerEpoch: 0, baseSequence: 0 })
builder.append({ timestamp: 1_700_000_000_000, key: 'eu', value: 'first' })
builder.append({ timestamp: 1_700_000_000_005, key: null, value: 'second', headers: [{ key: 'trace', value: 'abc' }] })
const produced = builder.build() // the records field of a Produce request

const verdict = validateProduced(produced, { ...defaultProduceRules, produceVersion: 9, nowMs: 1_700_000_000_010 })
if (!verdict.accepted) throw new Error(`Kafka error ${verdict.errorCode}: ${verdict.errorMessage}`)

// The log copies the batch and patches the copy: neither field is within the CRC.
const stored = new BatchView(new Uint8Array(verdict.batch.batchBytes()))
stored.patchBaseOffset(1000)
stored.patchPartitionLeaderEpoch(7)

console.log(`${stored.count} records in ${stored.codec}, CRC valid: ${stored.isCrcValid()}`)
const text = (bytes: Uint8Array | null) => bytes && new TextDecoder().decode(bytes)
for (const { offset, timestamp, key, value } of records(stored)) console.log(offset, timestamp, text(key), text(value))

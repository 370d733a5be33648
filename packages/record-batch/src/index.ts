export { BatchBuilder, type BatchBuilderSettings, type RecordHeaderInput, type RecordInput } from './batch-builder.ts'
export { batchHeaderBytes, type TimestampType } from './batch-header.ts'
export { BatchView } from './batch-view.ts'
export { type CompressionCodec, compress, decompress } from './compression.ts'
export { type ConversionRules, type ConvertedMessageSet, convertMessageSet } from './convert-message-set.ts'
export { RecordBatchError, type RecordBatchErrorCode } from './errors.ts'
export type { Lz4ReadRules } from './lz4-frame.ts'
export { type BatchMeasure, batches, measureBatch } from './measure-batch.ts'
export { type CompressionType, defaultProduceRules, type ProduceRules } from './produce-rules.ts'
export {
  type AcceptedBatch,
  type ProduceErrorCode,
  type ProduceVerdict,
  produceErrors,
  type RecordError,
  type RefusedBatch,
} from './produce-verdict.ts'
export { defaultRecordsSettings, type RecordHeader, type RecordsSettings, type RecordView, records } from './records.ts'
export { type CleanedRecord, emptyBatch, type RetainRules, recordsBetween, retainRecords } from './retain-records.ts'
export { decrementSequence, incrementSequence, noSequence } from './sequence.ts'
export { validateProduced } from './validate-produced.ts'

export {
  type AdminCluster,
  type AdminNode,
  type AdminNodes,
  adminClusterSchema,
  adminNodeChangeSchema,
  adminNodeSchema,
  adminNodesSchema,
  pendingTransfersShownMax,
} from './admin/cluster.ts'
export {
  type AdminGroup,
  type AdminGroupMember,
  type AdminGroupOffset,
  type AdminGroupSummary,
  type AdminGroups,
  adminGroupSchema,
  adminGroupsQuerySchema,
  adminGroupsSchema,
  groupStates,
} from './admin/groups.ts'
export { type Health, healthSchema, type Ready, type ReadyCheck, readySchema } from './admin/health.ts'
export { type AdminRoute, type AdminRouteName, adminRoutes } from './admin/routes.ts'
export { type AdminStream, type AdminStreams, adminStreamSchema, adminStreamsSchema } from './admin/streams.ts'
export {
  type AdminTransfer,
  type AdminTransferRequest,
  adminTransferRequestSchema,
  adminTransferSchema,
  transferStates,
} from './admin/transfers.ts'
export { headersPerAppendMax, jsonDepthMax, jsonValuesMax, recordsPerAppendMax } from './append-limits.ts'
export { base64Of, bytesOfBase64 } from './base64.ts'
export {
  type AppendBatchOutcome,
  type BinaryBatchVersion,
  binaryBatchHeaderBytes,
  decodeAppendBatch,
  decodeReadBatch,
  encodeAppendBatch,
  encodeReadBatch,
  type ReadBatchOutcome,
  readRecordBytes,
  viewOf,
  writeBatchHeader,
  writeReadRecord,
} from './binary-batch.ts'
export { type ErrorBody, type ErrorCode, errorBodySchema, errorStatuses } from './errors.ts'
export { isMediaType, mediaTypeOf, mediaTypes, picoHeaders } from './headers.ts'
export { decimalInteger, trueOrFalse } from './integers.ts'
export {
  decodeJsonAppendBatch,
  type JsonAppendBatch,
  type JsonHeaders,
  type JsonReadRecord,
  jsonAppendBatchSchema,
  jsonAppendRecordOf,
  jsonHeadersOf,
  jsonReadRecordSchema,
  jsonReadSchema,
  recordOfJson,
} from './json-batch.ts'
export { type ListedStream, type Listing, listedStreamSchema, listingSchema } from './listing.ts'
export { type ControlEvent, controlEventSchema, eventNames } from './live-events.ts'
export { problemText } from './problems.ts'
export {
  type ListQuery,
  type LiveMode,
  listLimitMax,
  listQuerySchema,
  liveModes,
  type ReadFormat,
  type ReadQuery,
  readFormats,
  readQuerySchema,
} from './read-query.ts'
export type { AppendRecord, ReadRecord, RecordHeaderBytes } from './records.ts'
export {
  type CompatibilityName,
  compatibilityNames,
  type DescribedSchema,
  describedSchemaSchema,
  type ListedSchema,
  type NamedReference,
  type PutSchema,
  putSchemaSchema,
  type SchemaCheck,
  type SchemaKindName,
  type SchemaReason,
  type SchemaVersionFacts,
  schemaCheckQuerySchema,
  schemaCheckSchema,
  schemaDeleteQuerySchema,
  schemaGetQuerySchema,
  schemaHeaders,
  schemaKindNames,
  schemaListingSchema,
  schemaListQuerySchema,
  schemaMediaTypes,
  schemaPutQuerySchema,
  schemasPath,
  schemaVersionsQuerySchema,
  schemaVersionsSchema,
} from './schemas/schemas.ts'
export {
  type AppendHeaders,
  appendHeadersSchema,
  type CreateHeaders,
  createHeadersSchema,
  rfc3339Of,
} from './stream-headers.ts'
export {
  isReservedName,
  pathOfStreamName,
  reservedSegments,
  type StreamNameOutcome,
  streamNameBytesMax,
  streamNameOfPath,
  streamNameProblem,
} from './stream-name.ts'

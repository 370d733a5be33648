import { isUtf8 } from 'node:buffer'
import {
  type AppendBatchOutcome,
  decodeAppendBatch,
  decodeJsonAppendBatch,
  mediaTypeOf,
  mediaTypes,
} from '@pico/http-contract'
import type { RecordInput } from '@pico/record-batch'
import { badRequest } from '../server/http-error.ts'

/** Whether a body of this type is a batch of records, and not one record. */
export function isBatch(contentType: string | undefined): boolean {
  if (contentType === undefined || !contentType.includes('vnd.picomq')) return false
  const mediaType = mediaTypeOf(contentType)
  return mediaType === mediaTypes.batch || mediaType === mediaTypes.batchJson
}

/** The records of a request: views of its body. None if the body is empty. @throws HttpError 400 */
export function recordsOfBody(body: Buffer, contentType: string | undefined): readonly RecordInput[] {
  if (body.length === 0) return []
  if (contentType === undefined || !isBatch(contentType)) return [{ value: body }]
  const isJson = mediaTypeOf(contentType) === mediaTypes.batchJson
  const { records, problem } = isJson ? decodeJson(body) : decodeAppendBatch(body)
  if (records === undefined) throw badRequest(problem)
  if (records.length === 0) throw badRequest('a batch has at least one record')
  return records
}

function decodeJson(body: Buffer): AppendBatchOutcome {
  return isUtf8(body) ? decodeJsonAppendBatch(body.toString('utf8')) : { problem: 'the body is not UTF-8' }
}

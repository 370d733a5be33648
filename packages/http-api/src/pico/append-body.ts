import { isUtf8 } from 'node:buffer'
import {
  type AppendBatchOutcome,
  decodeAppendBatch,
  decodeJsonAppendBatch,
  jsonDepthMax,
  jsonValuesMax,
  mediaTypeOf,
  mediaTypes,
} from '@pico/http-contract'
import type { RecordInput } from '@pico/record-batch'
import { badRequest, HttpError } from '../server/http-error.ts'
import { scanJson } from '../server/json-scan.ts'

/** Whether a body of this type is a batch of records, and not one record. */
export function isBatch(contentType: string | undefined): boolean {
  if (contentType === undefined || !contentType.includes('vnd.picomq')) return false
  const mediaType = mediaTypeOf(contentType)
  return mediaType === mediaTypes.batch || mediaType === mediaTypes.batchJson
}

/** The records of a request: views of its body. None if the body is empty. @throws HttpError 400, 413 */
export function recordsOfBody(body: Buffer, contentType: string | undefined): readonly RecordInput[] {
  if (body.length === 0) return []
  if (contentType === undefined || !isBatch(contentType)) return [{ value: body }]
  const isJson = mediaTypeOf(contentType) === mediaTypes.batchJson
  const outcome = isJson ? decodeJson(body) : decodeAppendBatch(body)
  if (outcome.records === undefined) {
    throw outcome.isTooMuch === true ? new HttpError('too_large', outcome.problem) : badRequest(outcome.problem)
  }
  if (outcome.records.length === 0) throw badRequest('a batch has at least one record')
  return outcome.records
}

/** What can do no harm, whatever it holds, is not looked at twice. */
const harmlessJsonBytes = 64 * 1024

function decodeJson(body: Buffer): AppendBatchOutcome {
  if (body.length <= harmlessJsonBytes) {
    return isUtf8(body) ? decodeJsonAppendBatch(body.toString('utf8')) : { problem: 'the body is not UTF-8' }
  }
  switch (scanJson(body, { depthMax: jsonDepthMax, valuesMax: jsonValuesMax })) {
    case 'json':
      return decodeJsonAppendBatch(body.toString('utf8'))
    case 'no json':
      return { problem: 'the body is not JSON in UTF-8' }
    case 'too much':
      return {
        problem: `more than ${jsonValuesMax} JSON values, or ${jsonDepthMax} within each other`,
        isTooMuch: true,
      }
  }
}

import {
  decodeAppendBatch,
  encodeAppendBatch,
  errorStatuses,
  pathOfStreamName,
  readQuerySchema,
} from '@pico/http-contract'

// What a client sends ...
const record = { key: null, value: new TextEncoder().encode('hello'), headers: [] }
const body = encodeAppendBatch([record, record])
console.log(`POST ${pathOfStreamName('/orders/north sea')} with ${body.length} bytes`)

// ... and what a server makes of it.
const { records, problem } = decodeAppendBatch(body)
console.log(records?.length, 'records', problem ?? '')
console.log(readQuerySchema.safeParse({ seq: 'now', live: 'sse' }).data)
console.log('out_of_range is', errorStatuses.out_of_range)

/** The bytes of a POST. With `recordsPerBatch` the body is a binary batch of the Pico protocol, else one record. */
export function appendRequest(
  path: string,
  contentType: string,
  body: { readonly recordBytes: number; readonly recordsPerBatch?: number },
): Buffer {
  const record = Buffer.alloc(body.recordBytes, 'x')
  return postRequest(
    path,
    contentType,
    body.recordsPerBatch === undefined ? record : batchOf(record, body.recordsPerBatch),
  )
}

export function postRequest(path: string, contentType: string, body: Buffer): Buffer {
  const head = `POST ${path} HTTP/1.1\r\nHost: bench\r\nContent-Type: ${contentType}\r\nContent-Length: ${body.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), body])
}

/** `u8 version, u32 count`, then per record `u32 headers, u32 length, body`. */
function batchOf(record: Buffer, count: number): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(1, 0)
  head.writeUInt32BE(count, 1)
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32BE(record.length, 4)
  return Buffer.concat([head, ...Array.from({ length: count }, () => [lengths, record]).flat()])
}

import { ByteReader, ByteWriter, crc32c, ReadError } from '@pico/binary'

const payload = Buffer.from('hello')
const writer = new ByteWriter()
writer.int32(payload.length)
writer.put(payload)
writer.uint32(crc32c(payload))

const bytes = writer.toBytes()
const reader = new ByteReader(bytes)
const body = reader.take(reader.int32())
console.log(Buffer.from(body).toString(), reader.uint32() === crc32c(body))

try {
  new ByteReader(bytes.subarray(0, 6)).take(9)
} catch (error) {
  if (error instanceof ReadError) console.log(error.code, error.message)
}

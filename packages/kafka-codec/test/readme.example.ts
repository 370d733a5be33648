import { ByteReader } from '@pico/binary'
import { CodecError, encodeRequest, FrameSplitter, heartbeat, kafkaErrors, readRequestHeader } from '@pico/kafka-codec'

// A client writes a request: buffers for `writev`, length and header included.
const body = { groupId: 'billing', generationId: 7, memberId: 'worker-1' }
const frame = encodeRequest(heartbeat, 4, { correlationId: 1, clientId: 'docs' }, body)

// A server cuts frames from whatever arrives, and reads header and body.
for (const payload of new FrameSplitter({ maxFrameBytes: 1 << 20 }).push(Buffer.concat(frame))) {
  const reader = new ByteReader(payload)
  const { apiVersion, clientId } = readRequestHeader(reader)
  console.log(clientId, heartbeat.request(apiVersion).read(reader))
}

try {
  heartbeat.response(4).decode(Buffer.of(0, 0, 0, 0, 0))
} catch (error) {
  if (error instanceof CodecError) console.log(error.message)
}
console.log(kafkaErrors.rebalanceInProgress)

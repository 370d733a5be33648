import { GatheredBody, type PutBody } from './put-body.ts'

/** Memory is taken in pieces of this size, so that a small body takes little. */
const pieceBytes = 1024 * 1024

/**
 * The body in parts of `partBytes`, the last one shorter; one empty part where there is nothing. What the body yields is copied: it is
 * lent only until the next is asked for.
 */
export async function* bodyParts(
  body: AsyncIterable<Uint8Array>,
  partBytes: number,
  isHashed: boolean,
): AsyncGenerator<PutBody> {
  let part = new GatheredBody(isHashed)
  let piece = Buffer.allocUnsafeSlow(0)
  let filled = 0
  let isFirst = true
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      const room = partBytes - part.lengthBytes - filled
      if (room === 0) {
        part.add(piece.subarray(0, filled))
        yield part.finish()
        isFirst = false
        part = new GatheredBody(isHashed)
        piece = Buffer.allocUnsafeSlow(0)
        filled = 0
        continue
      }
      if (filled === piece.length) {
        part.add(piece)
        piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, room))
        filled = 0
      }
      const taken = chunk.subarray(at, at + Math.min(piece.length - filled, room))
      piece.set(taken, filled)
      filled += taken.length
      at += taken.length
    }
  }
  part.add(piece.subarray(0, filled))
  if (isFirst || part.lengthBytes > 0) yield part.finish()
}

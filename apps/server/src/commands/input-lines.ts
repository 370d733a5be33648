import { CommandFailure } from './command-failure.ts'
import { sizeText } from './terminal-progress.ts'

/** Longest line, or whole input, that is taken: what one record could be at all, and what one may cost us in memory. */
const lineBytesMax = 64 * 1024 * 1024

const lineFeed = 0x0a

/**
 * The lines of an input, without their line feeds; a last one need not have any. All else stays as it is, a carriage return too. A line
 * is borrowed until the next one is asked for.
 */
export async function* inputLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  let begun: Uint8Array[] = []
  let begunBytes = 0
  let number = 1
  for await (const chunk of input) {
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      const rest = chunk.subarray(start, end)
      yield begun.length === 0 ? rest : Buffer.concat([...begun, rest])
      begun = []
      begunBytes = 0
      number++
      start = end + 1
    }
    if (start === chunk.length) continue
    begun.push(chunk.subarray(start))
    begunBytes += chunk.length - start
    if (begunBytes > lineBytesMax)
      throw new CommandFailure(`line ${number} of the input is longer than ${sizeText(lineBytesMax)}`)
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}

/** All of an input as one record. */
export async function wholeInput(input: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of input) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > lineBytesMax) throw new CommandFailure(`the input is longer than ${sizeText(lineBytesMax)}`)
  }
  return Buffer.concat(chunks)
}

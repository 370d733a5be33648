import type { StreamAudit } from '@pico/metadata'
import type { Problem } from './finding.ts'

/**
 * What is wrong with the rows of a stream. Its extents have to be ascending and gapless, from at or before the trim watermark to
 * packedOffset, each within its object, and none of them wholly below the watermark.
 */
export function streamProblems(stream: StreamAudit): Problem[] {
  if (stream.life === 'gone') {
    const rows = stream.extents + stream.leaderEpochs + stream.states
    return rows === 0 ? [] : [{ kind: 'leftover', what: `it was deleted, and ${rows} rows of it are left` }]
  }
  return [...gaps(stream), ...malformed(stream), ...sums(stream)]
}

function gaps(stream: StreamAudit): Problem[] {
  const { startOffset, packedOffset, baseOffset, endOffset, firstGap } = stream
  const gap = (what: string): Problem[] => [{ kind: 'gap', what }]
  if (firstGap !== null) return gap(`the extent at offset ${firstGap} does not begin where the one before it ends`)
  if (baseOffset === null || endOffset === null) {
    if (packedOffset <= startOffset) return []
    return gap(`offsets ${startOffset} to ${packedOffset} are packed, and there is no extent`)
  }
  if (baseOffset > startOffset) return gap(`it starts at offset ${startOffset}, and its extents at ${baseOffset}`)
  if (endOffset !== packedOffset)
    return gap(`it is packed to offset ${packedOffset}, and its extents end at ${endOffset}`)
  return []
}

function malformed(stream: StreamAudit): Problem[] {
  const problems: readonly (readonly [offset: number | null, what: string])[] = [
    [stream.firstMalformed, 'is empty, or lies nowhere'],
    [stream.firstWithoutObject, 'is in an object that no row describes'],
    [stream.firstOutside, 'ends past the end of its object'],
  ]
  return problems.flatMap(([offset, what]) =>
    offset === null ? [] : [{ kind: 'malformed' as const, what: `the extent at offset ${offset} ${what}` }],
  )
}

function sums({ packedBytes, extentBytes }: StreamAudit): Problem[] {
  if (packedBytes === extentBytes) return []
  return [{ kind: 'miscounted', what: `its row counts ${packedBytes} bytes, and its extents have ${extentBytes}` }]
}

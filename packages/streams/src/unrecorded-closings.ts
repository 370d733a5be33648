import type { Log } from '@pico/log'
import type { Metadata, NodeIdentity } from '@pico/metadata'
import { ProducerStateUnreadableError } from './errors.ts'
import { closedByText } from './stream-closing.ts'
import { type ClosingMark, theStream } from './stream-facts.ts'
import { restoreFacts } from './stream-facts-format.ts'

/** States read at a time: one may be a megabyte. */
const statesTogether = 64

/**
 * Streams that an append closed, but whose rows do not say so, because a crash came in between: nobody was told. Looked for among those
 * whose appends the crash had left in the WAL, so that rows are true before anybody asks.
 */
export async function recordClosings({
  log,
  metadata,
  node,
}: {
  readonly log: Log
  readonly metadata: Metadata
  readonly node: NodeIdentity
}): Promise<void> {
  for (let at = 0; at < log.adoptedStreamIds.length; at += statesTogether) {
    const streamIds = log.adoptedStreamIds.slice(at, at + statesTogether)
    const marks = new Map<number, ClosingMark>()
    for (const { streamId, state } of await metadata.log.streamStates(streamIds)) {
      const mark = closingIn(state)
      if (mark !== undefined) marks.set(streamId, mark)
    }
    const rows = marks.size === 0 ? [] : await metadata.streams.byStreamId([...marks.keys()])
    const unrecorded = rows.filter(({ life, isClosed }) => life === 'live' && !isClosed).map(({ streamId }) => streamId)
    if (unrecorded.length === 0) continue
    await metadata.streams.open(node, unrecorded)
    for (const streamId of unrecorded) {
      await metadata.streams.close(node, streamId, closedByText(marks.get(streamId)?.by ?? null))
    }
  }
}

function closingIn(state: Uint8Array): ClosingMark | undefined {
  try {
    return restoreFacts(state, []).closing.get(theStream, 0)
  } catch (error) {
    if (error instanceof ProducerStateUnreadableError) return undefined // who opens the stream is told
    throw error
  }
}

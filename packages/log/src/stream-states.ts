import type { StreamState } from '@pico/metadata'
import type { LogComponents } from './log.ts'

/** What a run says of its stream's state. */
export interface Summarised {
  readonly streamId: number
  readonly summaries: readonly Uint8Array[]
}

/** The states of the streams these runs belong to, carried over them. Runs come by stream, then offset. */
export async function foldStates(
  { metadata, format, clock }: Pick<LogComponents, 'metadata' | 'format' | 'clock'>,
  runs: readonly Summarised[],
): Promise<StreamState[]> {
  const summaries = new Map<number, Uint8Array[]>()
  for (const run of runs) {
    if (run.summaries.length === 0) continue
    const list = summaries.get(run.streamId)
    if (list === undefined) summaries.set(run.streamId, [...run.summaries])
    else list.push(...run.summaries)
  }
  const known = await metadata.log.streamStates([...summaries.keys()])
  const before = new Map(known.map(({ streamId, state }) => [streamId, state]))
  const states: StreamState[] = []
  for (const [streamId, list] of summaries) {
    const state = format.fold(before.get(streamId) ?? null, list, clock.nowMs())
    if (state !== null) states.push({ streamId, state })
  }
  return states
}

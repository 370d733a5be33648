import { strict as assert } from 'node:assert'
import type { Clock, Log, LogStream, LogStreamObserver } from '@pico/log'
import type { Metadata, NodeIdentity } from '@pico/metadata'
import { BatchMemory } from './batch-memory.ts'
import { ProducerStateUnreadableError } from './errors.ts'
import type { ExpiryRenewals } from './expiry-renewals.ts'
import type { Membership } from './membership.ts'
import { OpenPartition } from './open-partition.ts'
import type { Placement } from './placement.ts'
import type { StreamsSettings } from './settings.ts'
import { Elsewhere, type Place } from './stream-place.ts'

export interface PartitionOpenerParts {
  readonly log: Log
  readonly metadata: Metadata
  readonly node: NodeIdentity
  readonly clock: Clock
  readonly renewals: ExpiryRenewals
  readonly membership: Membership
  readonly placement: Placement
  /** Who asks for a stream that nobody has may have it here; else it is placed, here or elsewhere. */
  readonly claims: boolean
}

/** What came of a stream that was to be opened; one that is not there has no outcome. */
export type Opening = OpenPartition | Elsewhere | Error

const unobserved: LogStreamObserver = { committed: () => undefined, rolledBack: () => undefined }

/** Opens streams together, as far as this node has them or may have them, and finds out who has the others. */
export class PartitionOpener {
  readonly #parts: PartitionOpenerParts
  readonly #settings: StreamsSettings
  readonly #onOpened: (opened: OpenPartition) => void
  readonly #batchMemory = new BatchMemory()

  /** `onOpened` is called while the log opens the stream, whatever fails later. */
  constructor(parts: PartitionOpenerParts, settings: StreamsSettings, onOpened: (opened: OpenPartition) => void) {
    this.#parts = parts
    this.#settings = settings
    this.#onOpened = onOpened
  }

  /** Of streams that are not open here, by id. */
  async open(closed: ReadonlyMap<number, Place>): Promise<Map<number, Opening>> {
    const { claims, placement } = this.#parts
    const outcome = new Map<number, Opening>()
    const mayClaim = (place: Place) => claims || placement.isAlone || place.isClaimed === true
    const claimed = [...closed.values()].filter(mayClaim).map(({ streamId }) => streamId)
    await this.#openHere(claimed, closed, outcome)
    await this.#openPlaced(
      [...closed.keys()].filter((streamId) => !outcome.has(streamId)),
      closed,
      outcome,
    )
    // Closed by an append that nobody was told of: a crash came before its row was.
    for (const opened of outcome.values()) {
      if (opened instanceof OpenPartition && !opened.isRecorded) await opened.bringUpToDate()
    }
    return outcome
  }

  async #openPlaced(
    streamIds: readonly number[],
    places: ReadonlyMap<number, Place>,
    outcome: Map<number, Opening>,
  ): Promise<void> {
    if (streamIds.length === 0) return
    const { placement } = this.#parts
    const placed = await placement.place(streamIds)
    const isHere = (owner: NodeIdentity | null) => owner !== null && placement.isHere(owner)
    const here = [...placed].flatMap(([streamId, { owner }]) => (isHere(owner) ? [streamId] : []))
    await this.#openHere(here, places, outcome)
    for (const [streamId, { owner }] of placed) {
      // One that was placed here and could not be opened has been moved since.
      if (!outcome.has(streamId)) outcome.set(streamId, new Elsewhere(isHere(owner) ? null : owner))
    }
  }

  async #openHere(
    streamIds: readonly number[],
    places: ReadonlyMap<number, Place>,
    outcome: Map<number, Opening>,
  ): Promise<void> {
    if (streamIds.length === 0) return
    await this.#parts.log.open(streamIds, (stream) => {
      try {
        const opened = this.#opened(stream, places.get(stream.streamId))
        outcome.set(stream.streamId, opened)
        this.#onOpened(opened)
        return opened
      } catch (error) {
        if (!(error instanceof ProducerStateUnreadableError)) throw error
        outcome.set(stream.streamId, error)
        return unobserved
      }
    })
    // One stream that cannot be served must not keep the others from being opened.
    for (const streamId of streamIds) if (outcome.get(streamId) instanceof Error) this.#parts.log.forget(streamId)
  }

  #opened(stream: LogStream, place: Place | undefined): OpenPartition {
    assert(place !== undefined, 'the log opens what it was asked to')
    const { clock, metadata, node, renewals, membership } = this.#parts
    const { producerIdExpirationMs, judgingBytesMax } = this.#settings
    const { topic, partition } = place
    const batchMemory = this.#batchMemory
    const parts = { metadata, node, clock, renewals, batchMemory, tenure: membership }
    return new OpenPartition(stream, { topic, partition, producerIdExpirationMs, judgingBytesMax, ...parts })
  }
}

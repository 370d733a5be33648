import { crc32c } from '@pico/binary'
import type { Clock, Log } from '@pico/log'
import type { Metadata, NodeIdentity, NodeRecord, StreamPlace } from '@pico/metadata'
import { StreamsElsewhereError } from './errors.ts'
import { isSameRun, type Membership } from './membership.ts'
import type { Leader, TopicPartition } from './topic.ts'

export interface PlacementParts {
  readonly metadata: Metadata
  readonly log: Log
  readonly membership: Membership
  readonly clock: Clock
}

/** How long the owner of a stream may take to let go of it. */
const bringHereMs = 20_000
const lookAgainMs = 30
/** A node that has not adopted in so long what it set out to adopt may be dead as well. */
const adoptionMs = 10_000

/** Which node has which stream. */
export class Placement {
  readonly #parts: PlacementParts
  #adopting: Promise<void> | null = null

  constructor(parts: PlacementParts) {
    this.#parts = parts
  }

  /** There is no other node, as far as is known. */
  get isAlone(): boolean {
    const { membership } = this.#parts
    return !membership.nodes.some((node) => !isSameRun(node, membership.node))
  }

  get #isLeaving(): boolean {
    return !this.isAlone && this.liveNode(this.#parts.membership.node) === undefined
  }

  isHere(owner: NodeIdentity): boolean {
    return isSameRun(owner, this.#parts.membership.node)
  }

  /** Another live node has it: what SQL says of its stream may be behind. */
  isElsewhere(owner: NodeIdentity | null): boolean {
    return owner !== null && !this.isHere(owner) && this.liveNode(owner) !== undefined
  }

  liveNode(node: NodeIdentity): NodeRecord | undefined {
    return this.#parts.membership.nodes.find((live) => isSameRun(live, node))
  }

  /**
   * Who has those streams; what nobody has is given to somebody. Null where no live node takes any. Those that do not exist are left
   * out. What a dead node left in the WAL is adopted on the way. @throws FencedError, MetadataUnavailableError
   */
  async place(streamIds: readonly number[]): Promise<Map<number, { owner: NodeIdentity | null; leaderEpoch: number }>> {
    const { streams } = this.#parts.metadata
    let places = await streams.place(streamIds, this.#parts.clock.nowMs())
    const unadopted = places.filter(({ owner }) => owner === 'unadopted').map(({ streamId }) => streamId)
    if (unadopted.length > 0) {
      await this.adoptLeft()
      const adopted = await streams.place(unadopted, this.#parts.clock.nowMs())
      places = [...places.filter(({ owner }) => owner !== 'unadopted'), ...adopted]
    }
    return new Map(places.map((place) => [place.streamId, { owner: ownerOf(place), leaderEpoch: place.leaderEpoch }]))
  }

  /** Who leads those partitions, where nobody does, somebody is made to. @throws FencedError, MetadataUnavailableError */
  async leaders(partitions: readonly TopicPartition[]): Promise<(partition: TopicPartition) => Leader> {
    if (this.isAlone || partitions.length === 0) return (partition) => this.expectedLeader(partition)
    const places = await this.place(partitions.map(({ streamId }) => streamId))
    return ({ streamId, leaderEpoch }) => {
      const place = places.get(streamId)
      return { nodeId: place?.owner?.nodeId ?? null, leaderEpoch: place?.leaderEpoch ?? leaderEpoch }
    }
  }

  /**
   * Who will lead a partition, as its row says: what nobody has, this node may get when it is asked for it. Opening raises the leader
   * epoch by one unless the owner stays the same (StreamCatalog.open), so a description of ten thousand topics opens, and places, none.
   */
  expectedLeader({ owner, leaderEpoch }: Pick<TopicPartition, 'owner' | 'leaderEpoch'>): Leader {
    if (owner !== null && (this.isHere(owner) || this.isElsewhere(owner))) return { nodeId: owner.nodeId, leaderEpoch }
    const { nodeId } = this.#parts.membership.node
    return { nodeId: this.#isLeaving ? null : nodeId, leaderEpoch: leaderEpoch + 1 }
  }

  /** The live node for something of this name that does not exist yet: a rendezvous hash, so that a node more or less moves little else. */
  nodeFor(name: string): number | null {
    const candidates = this.#parts.membership.nodes.filter(({ slots }) => slots > 0)
    const rank = ({ nodeId }: NodeRecord) => crc32c(Buffer.from(`${nodeId} ${name}`))
    return candidates.toSorted((a, b) => rank(b) - rank(a))[0]?.nodeId ?? null
  }

  /**
   * Has streams that other live nodes have moved here: only its owner deletes a stream, or somebody would go on writing to it.
   * @throws StreamsElsewhereError when their owners do not let go in time
   */
  async bringHere(streamIds: readonly number[]): Promise<void> {
    if (this.isAlone) return
    const { metadata, membership, clock } = this.#parts
    const asked = new Set<number>()
    for (const deadlineMs = clock.nowMs() + bringHereMs; ; ) {
      const rows = await metadata.streams.byStreamId(streamIds)
      const elsewhere = rows.filter(({ owner }) => this.isElsewhere(owner))
      if (elsewhere.length === 0) return
      if (clock.nowMs() >= deadlineMs) throw new StreamsElsewhereError(elsewhere[0]?.name ?? '')
      for (const { streamId } of elsewhere) {
        if (!asked.has(streamId)) await metadata.transfers.request(streamId, membership.node.nodeId, clock.nowMs())
        asked.add(streamId)
      }
      await new Promise<void>((resume) => clock.after(lookAgainMs, resume))
    }
  }

  /** Adopts what dead nodes left in the WAL. Whoever asks while that is under way shares it. */
  adoptLeft(): Promise<void> {
    this.#adopting ??= this.#adoptLeft().finally(() => {
      this.#adopting = null
    })
    return this.#adopting
  }

  async #adoptLeft(): Promise<void> {
    const { log, metadata, membership } = this.#parts
    if (this.#isLeaving) return // the others do it
    for (const dead of await metadata.log.unadoptedNodes()) {
      // Two that adopt the same would do no harm, but each undo the other's work and repeat it.
      const lease = `adoption ${dead.nodeId} ${dead.nodeEpoch}`
      if (!(await metadata.leases.acquire(lease, membership.node, adoptionMs))) continue
      try {
        await log.adopt(dead)
      } finally {
        await metadata.leases.release(lease, membership.node)
      }
    }
  }
}

function ownerOf({ owner }: StreamPlace): NodeIdentity | null {
  return typeof owner === 'string' ? null : owner
}

import type { Clock } from '@pico/log'
import { FencedError, type Metadata } from '@pico/metadata'
import type { Membership } from './membership.ts'
import type { Placement } from './placement.ts'

export interface ClusterDutiesParts {
  readonly metadata: Metadata
  readonly membership: Membership
  readonly placement: Placement
  readonly clock: Clock
  readonly onProblem: (message: string, error: unknown) => void
  /**
   * Gives up streams of this node: what they have is made durable and taken over into extents, and then `handOver` says in SQL who may
   * have them.
   */
  readonly letGo: (streamIds: readonly number[], handOver: () => Promise<unknown>) => Promise<void>
  /** Somebody changed or deleted those topics and streams, or any. */
  readonly changed: (topicIds: readonly string[] | 'all') => Promise<void>
}

export interface ClusterDutiesSettings {
  /** How often SQL is asked what others want of this node, should the news of it be lost. */
  readonly pollMs: number
}

/** Streams given up together: nothing is opened meanwhile, so not many. */
const letGoTogether = 20
/** Every so many polls the one that leads looks for what dead nodes left, and forgets what is over. */
const pollsPerLook = 5
/** What somebody did longer ago than this nobody asks for any more, or learns by looking at everything. */
const rememberedMs = 60 * 60 * 1000

/**
 * What a node does because others said so in SQL: hands over streams whose transfer was asked for, or all of them once it has no slots,
 * and takes notice of what changed. No node ever calls another.
 */
export class ClusterDuties {
  readonly #parts: ClusterDutiesParts
  readonly #settings: ClusterDutiesSettings
  #unwatch: (() => void)[] = []
  #cursor: string | null = null
  #polls = 0
  #cancelTimer: () => void = () => undefined
  #running: Promise<void> | null = null
  /** Somebody called while a round was under way: it may have looked already. */
  #isDueAgain = false
  #isOver = false

  constructor(parts: ClusterDutiesParts, settings: ClusterDutiesSettings) {
    this.#parts = parts
    this.#settings = settings
  }

  /** Notices everything that changes from now on. @throws MetadataUnavailableError */
  async start(): Promise<void> {
    const { metadata, membership } = this.#parts
    this.#cursor = (await metadata.changes.since(null)).cursor
    this.#unwatch = [
      metadata.changes.watch((kind) => {
        if (kind !== 'nodes') this.#soon()
      }),
      membership.watchLosses(() => this.#adoptSoon()),
    ]
    this.#schedule()
  }

  async stop(): Promise<void> {
    this.#isOver = true
    this.#cancelTimer()
    for (const unwatch of this.#unwatch) unwatch()
    await this.#running
  }

  #schedule(): void {
    if (this.#isOver) return
    this.#cancelTimer = this.#parts.clock.after(this.#settings.pollMs, () => this.#soon())
  }

  #soon(): void {
    if (this.#running !== null) this.#isDueAgain = true
    if (this.#running !== null || this.#isOver) return
    this.#cancelTimer()
    this.#running = this.#round().finally(() => {
      this.#running = null
      if (this.#isDueAgain) {
        this.#isDueAgain = false
        this.#soon()
      } else this.#schedule()
    })
  }

  /** A duty that fails is due again at the next poll; who is fenced has none. */
  async #round(): Promise<void> {
    this.#polls += 1
    for (const duty of [this.#noticeChanges, this.#handOverWanted, this.#emptyNode, this.#lookAfterAll]) {
      try {
        if (!this.#isOver) await duty.call(this)
      } catch (error) {
        if (this.#isOver || error instanceof FencedError) return
        this.#parts.onProblem('what other nodes want could not be done, and will be tried again', error)
      }
    }
  }

  async #noticeChanges(): Promise<void> {
    const { cursor, topicIds } = await this.#parts.metadata.changes.since(this.#cursor)
    if (topicIds === 'too-old') await this.#parts.changed('all')
    else if (topicIds.length > 0) await this.#parts.changed(topicIds)
    this.#cursor = cursor
  }

  async #handOverWanted(): Promise<void> {
    const { metadata, membership, clock, letGo } = this.#parts
    const { node } = membership
    for (;;) {
      const wanted = await metadata.transfers.pendingOf(node, letGoTogether)
      if (wanted.length === 0 || this.#isOver) return
      const streamIds = wanted.map(({ streamId }) => streamId)
      const transferIds = wanted.map(({ transferId }) => transferId)
      await letGo(streamIds, () => metadata.transfers.handOver(node, transferIds, clock.nowMs()))
    }
  }

  async #emptyNode(): Promise<void> {
    const { metadata, membership, letGo } = this.#parts
    const { node, nodes } = membership
    const others = nodes.filter(({ nodeId }) => nodeId !== node.nodeId)
    const slots = nodes.find(({ nodeId }) => nodeId === node.nodeId)?.slots
    // With nobody to take them, they are better off here.
    if (slots !== 0 || others.every((other) => other.slots === 0)) return
    for (let afterStreamId = 0; ; ) {
      const streamIds = await metadata.streams.ownedBy(node, { afterStreamId, limit: letGoTogether })
      const last = streamIds.at(-1)
      if (last === undefined || this.#isOver) return
      await letGo(streamIds, () => metadata.streams.release(node, streamIds))
      afterStreamId = last
    }
  }

  async #lookAfterAll(): Promise<void> {
    const { metadata, membership, placement, clock } = this.#parts
    if (!membership.leads || this.#polls % pollsPerLook !== 0) return
    await placement.adoptLeft()
    await metadata.changes.forget(rememberedMs)
    await metadata.transfers.forget(clock.nowMs() - rememberedMs)
  }

  #adoptSoon(): void {
    this.#parts.placement.adoptLeft().catch((error: unknown) => {
      if (!this.#isOver && !(error instanceof FencedError))
        this.#parts.onProblem('what a dead node left could not be adopted, and will be tried again', error)
    })
  }
}

import type { Clock } from '@pico/log'
import { FencedError, type Metadata, type NodeIdentity, type NodeRecord } from '@pico/metadata'

/** Who is there, and whether this node still is. */
export interface Membership {
  readonly node: NodeIdentity
  /** Other nodes may come and go, and change what this one has read. */
  readonly isShared: boolean
  /** This node may serve nothing: it is fenced, or could not say for its time to live that it is alive, and others may fence it. */
  readonly isOver: boolean
  /** It is the one that does for all what one node has to do. */
  readonly leads: boolean
  /** Live nodes, by id, as last seen; this one among them until it leaves. */
  readonly nodes: readonly NodeRecord[]
  /** Resolves when this node is fenced, and knows it. */
  readonly over: Promise<void>
  /** Calls back whenever somebody has gone who was there, until the returned function is called. Must not throw. */
  watchLosses(watcher: () => void): () => void
  /**
   * Calls back when this node may serve nothing for the moment: its time to live is over, and goes on if it can say that it is alive
   * before somebody fences it. Must not throw.
   */
  watchLapses(watcher: () => void): () => void
  /** Says nothing more to the database; nor that this node leaves. */
  close(): Promise<void>
  /** Is about to leave: it goes on saying that it is alive, but others are to be preferred. */
  retire(): void
  /** Serves nobody any more, and says so in SQL: its streams are free for others, once what it has in the WAL is adopted. */
  leave(): Promise<void>
}

export interface MembershipParts {
  readonly metadata: Metadata
  /** Freshly registered. */
  readonly node: NodeIdentity
  readonly clock: Clock
  /** Milliseconds that only ever go forward, whatever is done to the machine's clock. */
  readonly monotonicMs?: () => number
  readonly onProblem?: (message: string, error: unknown) => void
}

export interface MembershipSettings {
  readonly heartbeatMs: number
  /** A node that has been silent for longer is taken for dead by the others, and by itself. */
  readonly ttlMs: number
}

export const defaultMembershipSettings: MembershipSettings = { heartbeatMs: 2500, ttlMs: 10_000 }

const maintenanceLease = 'maintenance'
const retryMs = 250
/** So much later than its time to live a silent node is looked for: the database rounds. */
const silenceMarginMs = 20

/** The only process that has the database, for as long as it lives: the others that it knows of are gone. */
export async function joinAlone({ metadata, node }: Pick<MembershipParts, 'metadata' | 'node'>): Promise<Membership> {
  const known = await metadata.nodes.list()
  for (const other of known) if (other.nodeId !== node.nodeId && !other.isFenced) await metadata.nodes.fence(other)
  return {
    node,
    isShared: false,
    isOver: false,
    leads: true,
    nodes: known.filter(({ nodeId }) => nodeId === node.nodeId),
    over: new Promise(() => undefined),
    watchLosses: () => () => undefined,
    watchLapses: () => () => undefined,
    close: async () => undefined,
    retire: () => undefined,
    leave: async () => undefined,
  }
}

/** One of several nodes on the same database. @throws FencedError, MetadataUnavailableError */
export async function joinCluster(
  parts: MembershipParts,
  settings: Partial<MembershipSettings> = {},
): Promise<Membership> {
  const member = new ClusterMember(parts, { ...defaultMembershipSettings, ...settings })
  await member.start()
  return member
}

/** Architecture section 9: heartbeats on the database's clock; who is silent is fenced by whoever notices, and stops by itself. */
class ClusterMember implements Membership {
  readonly node: NodeIdentity
  readonly isShared = true
  readonly over: Promise<void>
  readonly #parts: MembershipParts
  readonly #settings: MembershipSettings
  readonly #monotonicMs: () => number
  readonly #ended: () => void
  readonly #lossWatchers = new Set<() => void>()
  readonly #lapseWatchers = new Set<() => void>()
  #nodes: readonly NodeRecord[] = []
  #isRetired = false
  #servesUntilMs = 0
  /** Until then silence proves nothing: the database was away, and others are about to say that they are alive. */
  #spareUntilMs = 0
  #leadsUntilMs = 0
  #hasEnded = false
  #cancelRound: () => void = () => undefined
  #cancelEnd: () => void = () => undefined
  #running: Promise<void> | null = null
  /** Who is there has changed while a round was under way: it may have looked already. */
  #isDueAgain = false
  #unwatch: () => void = () => undefined

  constructor(parts: MembershipParts, settings: MembershipSettings) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.node = parts.node
    this.over = promise
    this.#ended = resolve
    this.#parts = parts
    this.#settings = settings
    this.#monotonicMs = parts.monotonicMs ?? (() => performance.now())
  }

  async start(): Promise<void> {
    this.#unwatch = this.#parts.metadata.changes.watch((kind) => {
      if (kind === 'nodes') this.#soon()
    })
    try {
      await this.#round()
    } catch (error) {
      this.#stop()
      throw error
    }
    this.#schedule(this.#nextRoundMs())
  }

  get nodes(): readonly NodeRecord[] {
    return this.#isRetired ? this.#nodes.filter(({ nodeId }) => nodeId !== this.node.nodeId) : this.#nodes
  }

  retire(): void {
    this.#isRetired = true
  }

  get isOver(): boolean {
    return this.#hasEnded || this.#monotonicMs() >= this.#servesUntilMs
  }

  get leads(): boolean {
    return !this.isOver && this.#monotonicMs() < this.#leadsUntilMs
  }

  watchLosses(watcher: () => void): () => void {
    this.#lossWatchers.add(watcher)
    return () => this.#lossWatchers.delete(watcher)
  }

  watchLapses(watcher: () => void): () => void {
    this.#lapseWatchers.add(watcher)
    return () => this.#lapseWatchers.delete(watcher)
  }

  async close(): Promise<void> {
    this.#stop()
    await this.#running
  }

  async leave(): Promise<void> {
    await this.close()
    await this.#parts.metadata.nodes.fence(this.node)
  }

  #schedule(delayMs: number): void {
    if (this.#hasEnded) return
    this.#cancelRound = this.#parts.clock.after(delayMs, () => {
      this.#running = this.#round()
        .then(
          () => this.#nextRoundMs(),
          (error: unknown) => this.#failed(error),
        )
        .then((nextMs) => {
          this.#running = null
          this.#schedule(this.#isDueAgain ? 0 : nextMs)
          this.#isDueAgain = false
        })
    })
  }

  #soon(): void {
    if (this.#running !== null) {
      this.#isDueAgain = true
      return
    }
    this.#cancelRound()
    this.#schedule(0)
  }

  /** Says that this node is alive; looks who else is, and who leads. */
  async #round(): Promise<void> {
    const { metadata } = this.#parts
    const { ttlMs } = this.#settings
    const askedMs = this.#monotonicMs()
    await metadata.nodes.heartbeat(this.node)
    this.#renewed(askedMs + ttlMs)
    const known = await metadata.nodes.list()
    const isSilent = ({ nodeId, isFenced, silentMs }: NodeRecord) =>
      nodeId !== this.node.nodeId && !isFenced && silentMs > ttlMs
    const isFair = this.#monotonicMs() >= this.#spareUntilMs
    if (isFair && known.some(isSilent)) await metadata.nodes.fenceSilent(ttlMs)
    this.#saw(known.filter((node) => !node.isFenced && !isSilent(node)))
    const leaseAskedMs = this.#monotonicMs()
    if (await metadata.leases.acquire(maintenanceLease, this.node, ttlMs)) this.#leadsUntilMs = leaseAskedMs + ttlMs
  }

  #saw(live: readonly NodeRecord[]): void {
    const hasLost = !this.#nodes.every((before) => live.some((node) => isSameRun(node, before)))
    this.#nodes = live
    if (hasLost) for (const watcher of [...this.#lossWatchers]) watcher()
  }

  /** Early enough to notice at once when one that is silent has been so for too long. */
  #nextRoundMs(): number {
    const { heartbeatMs, ttlMs } = this.#settings
    const others = this.#nodes.filter(({ nodeId }) => nodeId !== this.node.nodeId)
    const longestSilentMs = Math.max(0, ...others.map(({ silentMs }) => silentMs))
    return Math.min(heartbeatMs, Math.max(0, ttlMs - longestSilentMs) + silenceMarginMs)
  }

  #renewed(servesUntilMs: number): void {
    if (this.#hasEnded) return
    this.#servesUntilMs = servesUntilMs
    this.#cancelEnd()
    const leftMs = Math.ceil(servesUntilMs - this.#monotonicMs())
    this.#cancelEnd = this.#parts.clock.after(leftMs, () => this.#lapsed())
  }

  #lapsed(): void {
    // A timer may come early.
    if (!this.isOver) {
      this.#renewed(this.#servesUntilMs)
      return
    }
    const { onProblem, node } = this.#parts
    const problem = `the database did not hear of this node for ${this.#settings.ttlMs} ms: it serves nothing until it does, or others have its streams`
    onProblem?.(problem, new FencedError(node.nodeId, node.nodeEpoch))
    for (const watcher of [...this.#lapseWatchers]) watcher()
  }

  #failed(error: unknown): number {
    const { heartbeatMs } = this.#settings
    const isFenced = error instanceof FencedError
    this.#spareUntilMs = this.#monotonicMs() + retryMs + 2 * heartbeatMs
    if (!isFenced && !this.#hasEnded) this.#parts.onProblem?.('this node could not say that it is alive', error)
    if (isFenced) this.#end()
    return Math.min(retryMs, heartbeatMs)
  }

  #end(): void {
    this.#stop()
    this.#ended()
  }

  #stop(): void {
    this.#hasEnded = true
    this.#unwatch()
    this.#cancelRound()
    this.#cancelEnd()
  }
}

export function isSameRun(a: NodeIdentity, b: NodeIdentity): boolean {
  return a.nodeId === b.nodeId && a.nodeEpoch === b.nodeEpoch
}

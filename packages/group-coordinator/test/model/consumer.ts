import type { GroupRequest, JoinedMember, JoinResponse, Reply } from '../../src/index.ts'
import type { CoordinatorHost } from './coordinator-host.ts'
import type { Random } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What consumers share: the coordinator, time, chance, and whether the world is still unkind. */
export interface Surroundings {
  readonly time: VirtualTime
  readonly random: Random
  readonly host: CoordinatorHost
  readonly partitionCount: number
  /** The whole group gives partitions up one rebalance before others get them, and keeps the rest throughout (KIP-429). */
  readonly isCooperative: boolean
  isCalm: boolean
  nextToken: number
}

export interface ConsumerTraits {
  readonly name: string
  readonly instanceId: string | null
  readonly sessionTimeoutMs: number
  readonly rebalanceTimeoutMs: number
  readonly requireKnownMemberId: boolean
  readonly supportsSkippingAssignment: boolean
  /** Chance that it stops for a while between two things it does: a long GC, a slow batch. */
  readonly slowness: number
}

type Omitted<T> = T extends GroupRequest ? Omit<T, 'requestToken'> : never

const heartbeatIntervalMs = 3_000

/**
 * A consumer as the Java client is one. Eager, it gives up its partitions before it joins again; cooperative, it keeps
 * them, says so, and gives up what it is not given again. It commits what it has read, fetches the committed offsets of
 * what it is given, heartbeats in between.
 */
export class Consumer {
  readonly traits: ConsumerTraits
  state: 'running' | 'dead' | 'left' | 'fenced' = 'running'
  memberId = ''
  generationId = -1
  isConsuming = false
  owned: readonly number[] = []
  readonly #positions = new Map<number, number>()
  readonly #world: Surroundings
  /** Changes with every join: what an earlier attempt still has under way no longer matters. */
  #attempt = 0
  #arrivesMs = 0
  #pausedUntilMs = 0

  constructor(world: Surroundings, traits: ConsumerTraits) {
    this.#world = world
    this.traits = traits
    this.#join()
    this.#consumeLater()
  }

  die(): void {
    if (this.state === 'running') this.#stop('dead')
  }

  leave(): void {
    if (this.state !== 'running') return
    const { memberId } = this
    const groupInstanceId = this.traits.instanceId
    this.#stop('left')
    // Half of the time a static member is removed by an administrator, who knows its instance only.
    const isNamed = groupInstanceId === null || this.#world.random.chance(0.5)
    this.#send({ kind: 'leave', members: [{ memberId: isNamed ? memberId : '', groupInstanceId }] }, 10_000, () => {})
  }

  #stop(state: 'dead' | 'left' | 'fenced'): void {
    this.state = state
    this.#attempt++
    this.owned = []
    this.isConsuming = false
  }

  #rejoin(): void {
    this.#attempt++
    if (!this.#world.isCooperative) this.owned = []
    this.isConsuming = false
    this.#after(this.#world.random.int(0, 200), () => this.#join())
  }

  #join(): void {
    this.#attempt++
    const { name, instanceId, slowness: _, ...traits } = this.traits
    const protocols = [
      { name: 'p', metadata: Uint8Array.of(...subscriptionToT, Math.max(0, this.generationId), ...this.owned) },
    ]
    const uuid = `${this.#world.nextToken}`
    this.#send(
      {
        kind: 'join',
        memberId: this.memberId,
        groupInstanceId: instanceId,
        freshUuid: uuid,
        clientId: name,
        clientHost: '/127.0.0.1',
        protocolType: 'consumer',
        protocols,
        ...traits,
      },
      Math.max(traits.rebalanceTimeoutMs, traits.sessionTimeoutMs) + 5_000,
      (reply) => {
        if (reply?.kind !== 'join') this.#rejoin()
        else this.#joined(reply.response)
      },
    )
  }

  #joined(response: JoinResponse): void {
    const { errorCode, memberId } = response
    if (errorCode === 0 || errorCode === 79) this.memberId = memberId
    if (errorCode === 79) this.#join()
    else if (errorCode === 0) this.#sync(response)
    else this.#recover(errorCode)
  }

  #sync({ memberId, generationId, leader, skipAssignment, members }: JoinResponse): void {
    // A static member may have missed a generation and be none the wiser: others may have had what it still has.
    if (generationId > this.generationId + 1) this.owned = []
    this.generationId = generationId
    const isToAssign = leader === memberId && !skipAssignment
    const { partitionCount, isCooperative } = this.#world
    const assign = isCooperative ? assignCooperatively : assignEvenly
    const assignments = isToAssign ? assign(members, partitionCount) : []
    const { requestOf } = this
    this.#send({ ...requestOf('sync'), protocolType: 'consumer', protocolName: 'p', assignments }, 30_000, (reply) => {
      if (reply?.kind !== 'sync') this.#rejoin()
      else if (reply.response.errorCode !== 0) this.#recover(reply.response.errorCode)
      else this.#assigned([...reply.response.assignment])
    })
    this.#heartbeatLater()
  }

  readonly requestOf = <K extends 'sync' | 'heartbeat' | 'offsetCommit'>(kind: K) => ({
    kind,
    memberId: this.memberId,
    groupInstanceId: this.traits.instanceId,
    generationId: this.generationId,
  })

  #assigned(partitions: readonly number[]): void {
    const revoked = this.owned.filter((partition) => !partitions.includes(partition))
    if (revoked.length > 0) this.#commit()
    this.owned = this.owned.filter((partition) => partitions.includes(partition))
    const added = partitions.filter((partition) => !this.owned.includes(partition))
    this.#startAt(added, () => {
      this.owned = partitions
      this.isConsuming = true
      if (revoked.length > 0) this.#rejoin()
    })
  }

  /** Reads on from what is committed. */
  #startAt(partitions: readonly number[], started: () => void): void {
    const topics = [{ topic: 't', partitions }]
    this.#send({ kind: 'offsetFetch', topics }, 10_000, (reply) => {
      if (reply?.kind !== 'offsetFetch' || reply.response.errorCode !== 0) {
        this.#after(100, () => this.#startAt(partitions, started))
        return
      }
      for (const { partition, offset } of reply.response.topics[0]?.partitions ?? []) {
        this.#positions.set(partition, Math.max(offset, 0))
      }
      started()
    })
  }

  /** All its life, whatever it joins meanwhile; without partitions there is nothing to it. */
  #consumeLater(): void {
    this.#awake(this.#world.random.int(2_000, 10_000), () => {
      if (this.state !== 'running') return
      for (const partition of this.owned) {
        this.#positions.set(partition, (this.#positions.get(partition) ?? 0) + this.#world.random.int(1, 9))
      }
      if (this.#world.random.chance(0.8)) this.#commit()
      this.#consumeLater()
    })
  }

  #commit(): void {
    if (this.owned.length === 0) return
    const partitions = this.owned.map((partition) => ({
      partition,
      offset: this.#positions.get(partition) ?? 0,
      leaderEpoch: 0,
      metadata: null,
    }))
    const rest = { retentionTimeMs: null, unknownGroupErrorCode: 69, topics: [{ topic: 't', partitions }] } as const
    this.#send({ ...this.requestOf('offsetCommit'), ...rest }, 10_000, (reply) => {
      if (reply?.kind !== 'offsetCommit') return
      const errorCode = reply.response.topics[0]?.partitions[0]?.errorCode ?? 0
      if ([22, 25, 82].includes(errorCode)) this.#recover(errorCode)
    })
  }

  #heartbeatLater(): void {
    this.#after(heartbeatIntervalMs, () => {
      this.#send(this.requestOf('heartbeat'), 10_000, (reply) => {
        const errorCode = reply?.kind === 'heartbeat' ? reply.response.errorCode : 0
        if (errorCode === 27) {
          if (this.#world.random.chance(0.7)) this.#commit()
          this.#rejoin()
        } else if (errorCode === 22 || errorCode === 25 || errorCode === 82) {
          this.#recover(errorCode)
        } else {
          this.#heartbeatLater()
        }
      })
    })
  }

  #recover(errorCode: number): void {
    if (errorCode === 82) {
      this.#stop('fenced')
      return
    }
    if (errorCode === 25) this.memberId = ''
    // Others may have what it had.
    if (errorCode === 22 || errorCode === 25) {
      this.owned = []
      this.generationId = -1
    }
    this.#rejoin()
  }

  /** Later, unless it has joined anew or stopped meanwhile. */
  #after(delayMs: number, run: () => void): void {
    const attempt = this.#attempt
    this.#awake(delayMs, () => {
      if (attempt === this.#attempt) run()
    })
  }

  /** Later, and later still if it is asleep then. */
  #awake(delayMs: number, run: () => void): void {
    const { time, random, isCalm } = this.#world
    if (!isCalm && random.chance(this.traits.slowness)) this.#pausedUntilMs = time.nowMs + random.int(500, 60_000)
    time.at(Math.max(time.nowMs + delayMs, this.#pausedUntilMs), () => {
      if (time.nowMs < this.#pausedUntilMs) this.#awake(0, run)
      else run()
    })
  }

  /** Requests of one consumer arrive in order. Some are lost, or their answers: then it gives up after a while. */
  #send(request: Omitted<GroupRequest>, timeoutMs: number, answered: (reply: Reply | null) => void): void {
    const { time, random, host, isCalm } = this.#world
    const requestToken = this.#world.nextToken++
    const attempt = this.#attempt
    let isOver = false
    const end = (reply: Reply | null) => {
      if (isOver || attempt !== this.#attempt) return
      isOver = true
      this.#after(0, () => answered(reply))
    }
    this.#arrivesMs = Math.max(this.#arrivesMs, time.nowMs + random.int(0, 40))
    time.after(timeoutMs, () => end(null))
    if (!isCalm && random.chance(0.01)) return
    const isAnswerLost = !isCalm && random.chance(0.01)
    time.at(this.#arrivesMs, () =>
      host.request({ ...request, requestToken }, (reply) => {
        if (!isAnswerLost) time.after(random.int(0, 40), () => end(reply))
      }),
    )
  }
}

/** ConsumerProtocolSubscription v0: topics ["t"]. What follows in our metadata is a generation and what is owned since. */
const subscriptionToT = [0, 0, 0, 0, 0, 1, 0, 1, 116]

type Assignments = { memberId: string; assignment: Uint8Array }[]

function assignEvenly(members: readonly JoinedMember[], partitionCount: number): Assignments {
  const sorted = members.map(({ memberId }) => memberId).sort()
  return sorted.map((memberId, at) => ({
    memberId,
    assignment: Uint8Array.from({ length: partitionCount }, (_, partition) => partition).filter(
      (partition) => partition % sorted.length === at,
    ),
  }))
}

/** The same in the end, but what somebody else still has is given to nobody this time. Old claims are no claims. */
function assignCooperatively(members: readonly JoinedMember[], partitionCount: number): Assignments {
  const claims = members.map(({ memberId, metadata }) => {
    const [generationId = 0, ...owned] = metadata.subarray(subscriptionToT.length)
    return { memberId, generationId, owned }
  })
  const latest = Math.max(...claims.map(({ generationId }) => generationId))
  const owners = new Map<number, string>()
  for (const { memberId, generationId, owned } of claims) {
    if (generationId === latest) for (const partition of owned) owners.set(partition, memberId)
  }
  return assignEvenly(members, partitionCount).map(({ memberId, assignment }) => ({
    memberId,
    assignment: assignment.filter((partition) => (owners.get(partition) ?? memberId) === memberId),
  }))
}

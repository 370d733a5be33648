import { setTimeout as sleep } from 'node:timers/promises'
import {
  consumerProtocolAssignment,
  consumerProtocolSubscription,
  encodeVersioned,
  heartbeat,
  joinGroup,
  kafkaErrors,
  syncGroup,
} from '@pico/kafka-codec'
import { connectRaw, type RawConnection } from '../../raw-kafka.ts'
import { errorName } from '../../raw-topics.ts'

/** As the Java client asks by default. */
const sessionTimeoutMs = 45_000
const rebalanceTimeoutMs = 300_000

const retryMs = 50
const formingBeatMs = 100

const isRetriable = (errorCode: number) =>
  errorCode === kafkaErrors.coordinatorLoadInProgress.code ||
  errorCode === kafkaErrors.coordinatorNotAvailable.code ||
  errorCode === kafkaErrors.notCoordinator.code

/** A member of a classic group: what a client does to be one, without the pauses that it makes. */
export class Member {
  readonly groupId: string
  readonly topic: string
  memberId = ''
  /** Of its last SyncGroup answer. */
  generationId = -1
  /** When it last asked to join, of `performance.now()`. */
  joinSentAt = Number.NaN

  constructor(groupId: string, topic: string) {
    this.groupId = groupId
    this.topic = topic
  }

  /** Joins until it has an assignment. Takes the connection for itself: a broker answers nothing else meanwhile. */
  async enter(connection: RawConnection): Promise<void> {
    for (;;) {
      const joined = await this.#join(connection)
      if (joined.errorCode === kafkaErrors.memberIdRequired.code) {
        this.memberId = joined.memberId
        continue
      }
      if (isRetriable(joined.errorCode)) {
        await sleep(retryMs)
        continue
      }
      mustBeFine('JoinGroup', joined.errorCode)
      this.memberId = joined.memberId
      const others = joined.leader === joined.memberId ? joined.members.map(({ memberId }) => memberId) : []
      const synced = await this.#sync(connection, joined.generationId, others)
      // It took so long that others have begun the next generation.
      if (synced.errorCode === kafkaErrors.rebalanceInProgress.code) continue
      mustBeFine('SyncGroup', synced.errorCode)
      this.generationId = joined.generationId
      return
    }
  }

  /** True when it is told to join again. */
  async beat(connection: RawConnection): Promise<boolean> {
    const { errorCode } = await connection.ask(heartbeat, 4, this.identity)
    if (errorCode === kafkaErrors.rebalanceInProgress.code) return true
    mustBeFine('Heartbeat', errorCode)
    return false
  }

  get identity() {
    const { groupId, memberId, generationId } = this
    return { groupId, memberId, generationId, groupInstanceId: null }
  }

  #join(connection: RawConnection) {
    const metadata = encodeVersioned(consumerProtocolSubscription, 3, {
      topics: [this.topic],
      userData: null,
      ownedPartitions: [],
      generationId: -1,
      rackId: null,
    })
    this.joinSentAt = performance.now()
    return connection.ask(joinGroup, 9, {
      groupId: this.groupId,
      sessionTimeoutMs,
      rebalanceTimeoutMs,
      memberId: this.memberId,
      groupInstanceId: null,
      protocolType: 'consumer',
      protocols: [{ name: 'range', metadata: Buffer.from(metadata) }],
      reason: null,
    })
  }

  #sync(connection: RawConnection, generationId: number, memberIds: readonly string[]) {
    const assignedPartitions = [{ topic: this.topic, partitions: [0] }]
    const assignment = encodeVersioned(consumerProtocolAssignment, 3, { assignedPartitions, userData: null })
    return connection.ask(syncGroup, 5, {
      groupId: this.groupId,
      generationId,
      memberId: this.memberId,
      groupInstanceId: null,
      protocolType: 'consumer',
      protocolName: 'range',
      assignments: memberIds.map((memberId) => ({ memberId, assignment: Buffer.from(assignment) })),
    })
  }
}

/** Brings the members of a new group into one generation, each over a connection of its own, as given. */
export async function formGroup(members: readonly Member[], connections: readonly RawConnection[]): Promise<void> {
  const isFormed = () =>
    members.every(({ generationId }) => generationId > 0 && generationId === members[0]?.generationId)
  const keep = async (member: Member, connection: RawConnection) => {
    await member.enter(connection)
    while (!isFormed()) {
      await sleep(formingBeatMs)
      if (await member.beat(connection)) await member.enter(connection)
    }
  }
  await Promise.all(members.map((member, index) => keep(member, connections[index]!)))
}

export function connectAll(port: number, count: number): Promise<RawConnection[]> {
  return Promise.all(Array.from({ length: count }, () => connectRaw(port, { timeoutMs: rebalanceTimeoutMs })))
}

export function mustBeFine(what: string, errorCode: number): void {
  if (errorCode !== kafkaErrors.none.code) throw new Error(`${what}: ${errorName(errorCode)}`)
}

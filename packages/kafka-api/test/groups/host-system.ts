import { defaultGroupSettings, type GroupRequest } from '@pico/group-coordinator'
import type { Partition } from '@pico/streams'
import { type GroupCall, GroupHost } from '../../src/groups/group-host.ts'
import { defaultGroupHostSettings, type GroupHostSettings } from '../../src/groups/settings.ts'
import { retriableErrorCode } from '../../src/operational-errors.ts'
import { KafkaSystem, type SystemSettings } from '../kafka-system.ts'

/** Groups without the protocol around them: a host over real streams, and what is in those streams. */
export class HostSystem {
  readonly system: KafkaSystem
  readonly settings: GroupHostSettings
  /** What the host could not do, and said so. */
  readonly failures: unknown[] = []
  host!: GroupHost
  topicId = ''

  private constructor(system: KafkaSystem, settings: Partial<GroupHostSettings>) {
    this.system = system
    const protocol = { ...defaultGroupSettings, groupInitialRebalanceDelayMs: 0 }
    this.settings = { ...defaultGroupHostSettings, protocol, ...settings }
  }

  static async open(
    settings: Partial<GroupHostSettings> = {},
    systemSettings: SystemSettings = {},
  ): Promise<HostSystem> {
    const opened = new HostSystem(await KafkaSystem.open(systemSettings), settings)
    opened.topicId = await opened.system.createTopic('orders')
    opened.#host()
    return opened
  }

  /** The host and all below it as after a crash. */
  async restart(systemSettings: SystemSettings = {}): Promise<void> {
    await this.system.start(systemSettings)
    this.#host()
  }

  #host(): void {
    this.system.api.drain() // it has a host of its own, and a group has one
    const explain = (error: unknown, operation: 'coordinate' | 'append' | 'read' | 'manage') => {
      this.failures.push(error)
      return retriableErrorCode(error, operation) ?? -1
    }
    this.host = new GroupHost({ streams: this.system.streams, clock: this.system.clock, explain }, this.settings)
  }

  /** Commits as a simple consumer of `orders`. Returns the error code. */
  async commit(offset: number, groupId = 'billing'): Promise<number> {
    const answer = await this.host.commit(groupId, commitOf(offset), new Map([['orders', this.topicId]]))
    return answer.topics[0]!.partitions[0]!.errorCode
  }

  async committed(groupId = 'billing'): Promise<number | undefined> {
    const { errorCode, topics } = await this.host.ask(groupId, { kind: 'offsetFetch', topics: null })
    if (errorCode !== 0) throw new Error(`error ${errorCode}`)
    return topics[0]?.partitions[0]?.offset
  }

  /** Joins and syncs as the only member. */
  async enter(groupId = 'billing'): Promise<{ memberId: string; generationId: number }> {
    const joined = await this.host.ask(groupId, joinOf())
    const { memberId, generationId, protocolType, protocolName } = joined
    const sync = { kind: 'sync', memberId, generationId, protocolType, protocolName } as const
    await this.host.ask(groupId, { ...sync, groupInstanceId: null, assignments: [] })
    return { memberId, generationId }
  }

  async commitAs({ memberId, generationId }: { memberId: string; generationId: number }, offset: number) {
    const call = { ...commitOf(offset), memberId, generationId }
    return this.host.commit('billing', call, new Map([['orders', this.topicId]]))
  }

  async stream(groupId = 'billing'): Promise<Partition> {
    const stream = await this.system.streams.internal.open(`/_sys/groups/${groupId}`)
    if (typeof stream === 'string') throw new Error(stream)
    return stream
  }

  async streamNames(): Promise<string[]> {
    const page = { prefix: '/_sys/', after: null, limit: 1000 }
    return (await this.system.streams.internal.list(page)).map(({ name }) => name)
  }

  async pass(ms: number): Promise<void> {
    this.system.clock.advance(ms)
    await settled()
  }

  async close(): Promise<void> {
    this.host.drain()
    await this.system.close()
  }
}

export function commitOf(offset: number): GroupCall<'offsetCommit'> {
  return {
    kind: 'offsetCommit',
    memberId: '',
    groupInstanceId: null,
    generationId: -1,
    retentionTimeMs: null,
    unknownGroupErrorCode: 69,
    topics: [{ topic: 'orders', partitions: [{ partition: 0, offset, leaderEpoch: -1, metadata: null }] }],
  }
}

export function joinOf(call: Partial<Extract<GroupRequest, { kind: 'join' }>> = {}): GroupCall<'join'> {
  return {
    kind: 'join',
    memberId: '',
    groupInstanceId: null,
    freshUuid: crypto.randomUUID(),
    clientId: 'app',
    clientHost: '/127.0.0.1',
    sessionTimeoutMs: 10_000,
    rebalanceTimeoutMs: 60_000,
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata: new Uint8Array(0) }],
    requireKnownMemberId: false,
    supportsSkippingAssignment: true,
    ...call,
  }
}

/** Until what is on its way has arrived: flushes over a memory store take a turn or two. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}

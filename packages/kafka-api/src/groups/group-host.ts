import {
  type DescribedGroup,
  type GroupRequest,
  groupErrorCodes,
  type ListedGroup,
  type Reply,
  refusal,
} from '@pico/group-coordinator'
import type { DeletedTopic, InternalStream, Streams } from '@pico/streams'
import type { Clock } from '../clock.ts'
import type { Explain } from '../explainer.ts'
import { groupLabels, HostedGroup, type Visit } from './hosted-group.ts'
import type { GroupPicture, ServedGroup } from './served-group.ts'
import type { GroupHostSettings } from './settings.ts'
import { groupIdOf, groupStreamName, groupStreamPosition, groupStreamPrefix } from './stream-names.ts'

/** A request to a group, without the token that tells its answer from others. */
export type GroupCall<K extends GroupRequest['kind']> = { readonly kind: K } & Omit<
  Extract<GroupRequest, { kind: K }>,
  'requestToken' | 'kind'
>
export type GroupAnswer<K extends Reply['kind']> = Extract<Reply, { kind: K }>['response']

/** A picture of a group, or why there is none to be had. */
export type Pictured<P> = { readonly picture: P; readonly errorCode: 0 } | { readonly errorCode: number }

/** The groups that this node coordinates, for the handlers. What is asked of one group happens in the order of asking. */
export interface Groups {
  /** The errors of the protocol, and those of a coordinator that cannot answer, are in the answer. */
  ask<K extends Exclude<GroupRequest['kind'], 'offsetCommit'>>(
    groupId: string,
    call: GroupCall<K>,
  ): Promise<GroupAnswer<K>>
  /** `topicIds`: by name, the topics of the call. */
  commit(
    groupId: string,
    call: GroupCall<'offsetCommit'>,
    topicIds: ReadonlyMap<string, string>,
  ): Promise<GroupAnswer<'offsetCommit'>>
  describe(groupId: string): Promise<Pictured<DescribedGroup>>
  list(): Promise<Pictured<readonly ListedGroup[]>>
}

export interface GroupPageRequest {
  readonly after: string | null
  readonly limit: number
}

export interface StoredGroup {
  readonly groupId: string
  readonly listed: Pictured<ListedGroup | null>
}

export interface GroupHostComponents {
  readonly streams: Streams
  readonly clock: Clock
  readonly explain: Explain
}

/** Rows of groups looked at, and groups loaded, at a time. */
const pageGroups = 500

export class GroupHost implements Groups {
  readonly #components: GroupHostComponents
  readonly #settings: GroupHostSettings
  readonly #hosted = new Map<string, HostedGroup>()
  readonly #stopWatching: () => void
  #cancelSweep: () => void = () => undefined
  #nextToken = 1
  #latestMs = 0
  #isDraining = false

  constructor(components: GroupHostComponents, settings: GroupHostSettings) {
    this.#components = components
    this.#settings = settings
    this.#stopWatching = components.streams.watchTopicDeletions((topic) => this.#topicDeleted(topic))
    this.#planSweep()
  }

  /** How many are in memory. */
  get hostedGroups(): number {
    return this.#hosted.size
  }

  ask<K extends Exclude<GroupRequest['kind'], 'offsetCommit'>>(
    groupId: string,
    call: GroupCall<K>,
  ): Promise<GroupAnswer<K>> {
    // A group is coordinated by the owner of its stream, so it has one before it has members.
    const needsStream = call.kind === 'join' && 'memberId' in call && call.memberId === ''
    return this.#call(groupId, call, needsStream, (group, request, settle) => group.ask(request, settle))
  }

  commit(
    groupId: string,
    call: GroupCall<'offsetCommit'>,
    topicIds: ReadonlyMap<string, string>,
  ): Promise<GroupAnswer<'offsetCommit'>> {
    const isSimple = call.generationId < 0
    return this.#call<'offsetCommit'>(groupId, call, isSimple, (group, request, settle) =>
      group.commit(request, topicIds, settle),
    )
  }

  describe(groupId: string): Promise<Pictured<DescribedGroup>> {
    return this.#look(groupId, true, (group) => group.describe())
  }

  /** Those that no other node coordinates. Groups that are not in memory are told from their labels; those without are loaded for it. */
  async list(): Promise<Pictured<readonly ListedGroup[]>> {
    if (this.#isDraining) return { errorCode: groupErrorCodes.coordinatorNotAvailable }
    const groups: ListedGroup[] = []
    for await (const page of this.#groupsHere()) {
      for (const listed of await Promise.all(page.map((stored) => this.#listOne(stored)))) {
        if (!('picture' in listed)) return listed
        if (listed.picture !== null) groups.push(listed.picture)
      }
    }
    return { errorCode: 0, picture: groups }
  }

  /** The groups after `after` in the order of their streams' names; null in place of one that has ceased to be. */
  async page({ after, limit }: GroupPageRequest): Promise<StoredGroup[]> {
    const { internal } = this.#components.streams
    const lastName = after === null ? null : groupStreamPosition(after)
    const stored = await internal.list({ prefix: groupStreamPrefix, after: lastName, limit })
    const pictures = await Promise.all(stored.map((one) => this.#listOne(one)))
    return stored.map(({ name }, at) => ({ groupId: groupIdOf(name), listed: pictures[at]! }))
  }

  /** All there is to say of a group: it is loaded for it, but not kept for it. */
  picture(groupId: string): Promise<Pictured<GroupPicture>> {
    return this.#look(groupId, false, (group) => group.picture())
  }

  /**
   * Answers everybody who waits for other members with COORDINATOR_NOT_AVAILABLE, and everybody from now on; commits on their way
   * are waited for.
   */
  drain(): void {
    this.#isDraining = true
    this.#cancelSweep()
    this.#stopWatching()
    for (const group of [...this.#hosted.values()]) group.shutDown(groupErrorCodes.coordinatorNotAvailable)
  }

  #call<K extends GroupRequest['kind']>(
    groupId: string,
    call: GroupCall<K>,
    needsStream: boolean,
    run: (group: ServedGroup, request: GroupRequest, settle: (reply: Reply) => void) => void,
  ): Promise<GroupAnswer<K>> {
    // A call of kind K with a token is the request of kind K, and its reply has that kind.
    const request = { ...call, requestToken: this.#nextToken++ } as unknown as GroupRequest
    const answer = new Promise<unknown>((resolve) => {
      const settle = (reply: Reply) => resolve(reply.response)
      this.#visit(groupId, {
        needsStream,
        isUse: true,
        run: (group) => run(group, request, settle),
        refuse: (errorCode) => settle(refusal(request, errorCode)),
      })
    })
    return answer as Promise<GroupAnswer<K>>
  }

  #look<P>(groupId: string, isUse: boolean, picture: (group: ServedGroup) => P): Promise<Pictured<P>> {
    return new Promise((resolve) => {
      this.#visit(groupId, {
        needsStream: false,
        isUse,
        run: (group) => resolve({ errorCode: 0, picture: picture(group) }),
        refuse: (errorCode) => resolve({ errorCode }),
      })
    })
  }

  #visit(groupId: string, visit: Visit): void {
    if (this.#isDraining) {
      visit.refuse(groupErrorCodes.coordinatorNotAvailable)
      return
    }
    if (!this.#components.streams.isServing) {
      visit.refuse(groupErrorCodes.notCoordinator)
      return
    }
    const group = this.#hosted.get(groupId) ?? this.#host(groupId)
    if (group === null) visit.refuse(groupErrorCodes.invalidGroupId)
    else group.visit(visit)
  }

  /** Null for a group that cannot have a stream. */
  #host(groupId: string): HostedGroup | null {
    const streamName = groupStreamName(groupId)
    if (streamName === null) return null
    const group: HostedGroup = new HostedGroup({
      ...this.#components,
      settings: this.#settings,
      groupId,
      streamName,
      nowMs: () => this.#nowMs(),
      gone: () => {
        this.#hosted.delete(groupId)
      },
    })
    this.#hosted.set(groupId, group)
    return group
  }

  /** Of groups that are not in memory, this is found out when they are loaded. */
  #topicDeleted(topic: DeletedTopic): void {
    for (const group of [...this.#hosted.values()]) {
      group.visit({
        needsStream: false,
        isUse: false,
        run: (served) => served.topicDeleted(topic),
        refuse: () => undefined,
      })
    }
  }

  async #listOne({ name, labels, isElsewhere }: InternalStream): Promise<Pictured<ListedGroup | null>> {
    const groupId = groupIdOf(name)
    const protocolType = labels[groupLabels.protocolType]
    // What a group of another node does right now only that node can tell.
    if (isElsewhere) return { errorCode: groupErrorCodes.notCoordinator }
    if (this.#hosted.has(groupId) || protocolType === undefined) {
      return this.#look(groupId, false, (group) => group.list())
    }
    return { errorCode: 0, picture: { groupId, protocolType, groupState: 'Empty', groupType: 'classic' } }
  }

  /** In pages, those that no other node coordinates. */
  async *#groupsHere(): AsyncGenerator<readonly InternalStream[], void, undefined> {
    const { internal } = this.#components.streams
    for (let after: string | null = null; ; ) {
      const page: InternalStream[] = await internal.list({ prefix: groupStreamPrefix, after, limit: pageGroups })
      const last = page.at(-1)
      if (last === undefined) return
      yield page.filter(({ isElsewhere }) => !isElsewhere)
      after = last.name
    }
  }

  #planSweep(): void {
    const { clock } = this.#components
    this.#cancelSweep = clock.after(this.#settings.sweepIntervalMs, () => void this.#sweep())
  }

  /** Loads groups that nobody asks for but that have something to do, such as offsets that expire. They leave again by themselves. */
  async #sweep(): Promise<void> {
    try {
      for await (const page of this.#groupsHere()) {
        const due = page.map(({ name, labels }) => ({
          groupId: groupIdOf(name),
          dueMs: Number(labels[groupLabels.dueMs] ?? 0),
        }))
        const idle = due.filter(({ groupId, dueMs }) => dueMs <= this.#nowMs() && !this.#hosted.has(groupId))
        await Promise.all(idle.map(({ groupId }) => this.#look(groupId, false, () => null)))
        if (this.#isDraining) return
      }
    } catch (error) {
      this.#components.explain(error, 'coordinate')
    }
    if (!this.#isDraining) this.#planSweep()
  }

  /** The state machine's clock must not run backwards, whatever is done to the machine's. */
  #nowMs(): number {
    this.#latestMs = Math.max(this.#latestMs, this.#components.clock.nowMs())
    return this.#latestMs
  }
}

import type { GroupEvent, GroupPhase, GroupRequest, GroupState, Reply } from '../../src/index.ts'
import { promise } from './promises.ts'

interface Generation {
  readonly leader: string
  /** By member id, in the words of the leader. */
  assignments: ReadonlyMap<string, Uint8Array> | null
  /** By partition: who was given it. A static member is the same whatever its member id. */
  readonly owners: Map<number, string>
}

/** In one life of a coordinator generations only grow, have one leader, and give a partition to one member. */
export class GenerationPromises {
  #before: { phase: GroupPhase; generationId: number } = { phase: 'Dead', generationId: 0 }
  readonly #generations = new Map<number, Generation>()
  /** Former member ids of static members, whose assignment the new id inherits. */
  readonly #formerIds = new Map<string, string>()

  before({ phase, generationId }: GroupState): void {
    this.#before = { phase, generationId }
  }

  after({ phase, generationId }: GroupState, event: GroupEvent): void {
    const before = this.#before
    const isAssigned = before.phase === 'CompletingRebalance' && phase === 'Stable'
    if (isAssigned) {
      promise(event.kind === 'sync', `a group is stable when its leader has spoken, not after a ${event.kind}`)
      const generation = this.#generations.get(generationId)
      promise(generation !== undefined, 'nobody is assigned anything in a generation that nobody was told of')
      generation.assignments = new Map(event.assignments.map((one) => [one.memberId, one.assignment]))
    }
    if (phase === 'Dead') {
      this.#generations.clear()
      return
    }
    promise(generationId >= before.generationId, `generations grow: ${before.generationId} to ${generationId}`)
    const endsJoinPhase = phase !== 'PreparingRebalance' && before.phase === 'PreparingRebalance'
    promise(
      !endsJoinPhase || generationId > before.generationId,
      `a join phase ends in a new generation (${event.kind})`,
    )
  }

  replied(state: GroupState, request: GroupRequest, reply: Reply): void {
    if (request.kind === 'join' && reply.kind === 'join' && reply.response.errorCode === 0) {
      const { memberId, generationId, leader, members } = reply.response
      if (request.groupInstanceId !== null && request.memberId !== '' && request.memberId !== memberId) {
        promise(false, 'a member keeps its id')
      }
      this.#joined(state, memberId, generationId, leader, members)
    }
    if (request.kind === 'sync' && reply.kind === 'sync' && reply.response.errorCode === 0) {
      this.#synced(request, reply.response.assignment)
    }
  }

  /** A static member has taken the place of its former self. */
  replaced(formerId: string, memberId: string): void {
    this.#formerIds.set(memberId, formerId)
  }

  #joined(
    state: GroupState,
    memberId: string,
    generationId: number,
    leader: string,
    members: readonly { memberId: string }[],
  ): void {
    promise(generationId === state.generationId, 'a member is told the current generation')
    const known = this.#generations.get(generationId)
    if (known === undefined) {
      this.#generations.set(generationId, { leader, assignments: null, owners: new Map() })
    } else {
      promise(
        leader === known.leader || this.#isFormer(known.leader, leader),
        `generation ${generationId} has one leader`,
      )
    }
    if (leader !== memberId) {
      promise(members.length === 0, 'only the leader is told the members')
      return
    }
    const told = members.map((member) => member.memberId).sort()
    const actual = [...state.members.keys()].sort()
    promise(told.join() === actual.join(), `the leader is told every member: ${told} of ${actual}`)
  }

  #synced(request: GroupRequest & { kind: 'sync' }, assignment: Uint8Array): void {
    const { memberId, groupInstanceId, generationId } = request
    const generation = this.#generations.get(generationId)
    promise(generation !== undefined, 'nobody is assigned anything in a generation that nobody was told of')
    promise(generation.assignments !== null, 'nobody is assigned anything before the leader has spoken')
    const assigned = this.#assignedTo(generation.assignments, memberId)
    promise(
      same(assigned, assignment),
      `a member is given what the leader said: ${memberId} ${assignment}, not ${assigned}`,
    )
    for (const partition of assignment) {
      const identity = groupInstanceId ?? memberId
      const owner = generation.owners.get(partition) ?? identity
      promise(owner === identity, `one owner in generation ${generationId}: ${owner} and ${identity} have ${partition}`)
      generation.owners.set(partition, identity)
    }
  }

  #assignedTo(assignments: ReadonlyMap<string, Uint8Array>, memberId: string): Uint8Array {
    let id: string | undefined = memberId
    while (id !== undefined) {
      const assignment = assignments.get(id)
      if (assignment !== undefined) return assignment
      id = this.#formerIds.get(id)
    }
    return new Uint8Array(0)
  }

  #isFormer(formerId: string, memberId: string): boolean {
    let id: string | undefined = memberId
    while (id !== undefined && id !== formerId) id = this.#formerIds.get(id)
    return id === formerId
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}

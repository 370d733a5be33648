/** A model that cannot fail proves nothing: coordinators broken on purpose, and the promise that each of them breaks. */
import { describe, expect, it } from 'vitest'
import { committedOffsets, type GroupState, replay, type StepResult, step } from '../src/index.ts'
import { type Engine, realEngine } from './model/engine.ts'
import { BrokenPromise } from './model/promises.ts'
import { runWorld } from './model/world.ts'

const brokenStep = (broken: Engine['step']): Engine => ({ ...realEngine, step: broken })

/** What two steps in a row say, as one. */
const both = (first: StepResult, then: StepResult): StepResult => ({
  ...then,
  replies: [...first.replies, ...then.replies],
  writes: [...first.writes, ...then.writes],
})

const changed = (result: StepResult, change: (state: GroupState) => void): StepResult => {
  change(result.state)
  return result
}

const mutants: Record<string, { engine: Engine; breaks: RegExp }> = {
  'whose join barrier opens at once': {
    engine: brokenStep((state, event, nowMs) => {
      const result = step(state, event, nowMs)
      if (state.phase !== 'PreparingRebalance' || state.initialJoin !== null) return result
      state.joinDueMs = nowMs
      return both(result, step(state, { kind: 'tick' }, nowMs))
    }),
    breaks: /gave no cause/,
  },
  'that starts a generation without its late members, and keeps them': {
    engine: brokenStep((state, event, nowMs) => {
      const late = [...state.members.values()].filter((member) => member.groupInstanceId === null)
      const isEarly = state.phase === 'PreparingRebalance' && state.parkedJoins > 0 && late.length > 0
      if (!isEarly || event.kind !== 'heartbeat') return step(state, event, nowMs)
      for (const member of late) Object.assign(member, { groupInstanceId: 'spared' })
      state.joinDueMs = nowMs
      const opened = step(state, { kind: 'tick' }, nowMs)
      for (const member of late) Object.assign(member, { groupInstanceId: null })
      return both(opened, step(state, event, nowMs))
    }),
    breaks: /was not waited for/,
  },
  'that obeys a static member which has been replaced': {
    engine: brokenStep((state, event, nowMs) => {
      if (event.kind !== 'heartbeat' && event.kind !== 'offsetCommit') return step(state, event, nowMs)
      const current = event.groupInstanceId === null ? undefined : state.staticMemberIds.get(event.groupInstanceId)
      return step(state, current === undefined ? event : { ...event, memberId: current }, nowMs)
    }),
    breaks: /fenced static member never acts/,
  },
  'that leaves what a replaced static member had parked unanswered': {
    engine: brokenStep((state, event, nowMs) => {
      const result = step(state, event, nowMs)
      const isFenced = (reply: (typeof result.replies)[number]) =>
        reply.kind === 'join' && reply.response.errorCode === 82 && reply.requestToken !== tokenOf(event)
      return { ...result, replies: result.replies.filter((reply) => !isFenced(reply)) }
    }),
    breaks: /had parked is answered/,
  },
  'that acknowledges a commit before it is durable': {
    engine: brokenStep((state, event, nowMs) => {
      if (event.kind === 'writeCompleted' || event.kind === 'writeFailed')
        return step(state, { kind: 'topicsDeleted', topics: [] }, nowMs)
      let result = step(state, event, nowMs)
      for (const { writeToken } of result.writes) {
        result = both(result, step(state, { kind: 'writeCompleted', writeToken }, nowMs))
      }
      return result
    }),
    breaks: /acknowledged when it is durable/,
  },
  'whose fetches do not wait for commits on their way': {
    engine: brokenStep((state, event, nowMs) => {
      if (event.kind !== 'offsetFetch' || state.unloadedErrorCode !== null) return step(state, event, nowMs)
      const { requestToken, kind } = event
      const response = { errorCode: 0, topics: committedOffsets(state, event.topics) }
      return { state, replies: [{ requestToken, kind, response }], writes: [], nextDeadlineMs: state.nextDeadlineMs }
    }),
    breaks: /commits never go back/,
  },
  'that takes a commit from whoever sends one': {
    engine: brokenStep((state, event, nowMs) => {
      if (event.kind !== 'offsetCommit' || state.leaderId === null) return step(state, event, nowMs)
      const { leaderId: memberId, generationId } = state
      const groupInstanceId = state.members.get(memberId)?.groupInstanceId ?? null
      return step(state, { ...event, memberId, groupInstanceId, generationId }, nowMs)
    }),
    breaks: /commits never go back|fenced static member never acts/,
  },
  'that lets a new generation keep the number of the last': {
    engine: brokenStep((state, event, nowMs) => {
      const before = state.phase
      return changed(step(state, event, nowMs), (after) => {
        if (before === 'PreparingRebalance' && after.phase === 'CompletingRebalance') after.generationId--
      })
    }),
    breaks: /a new generation|generations grow|current generation/,
  },
  'whose sessions never end': {
    engine: brokenStep((state, event, nowMs) => {
      if (event.kind === 'tick')
        for (const member of state.members.values()) member.sessionDueMs = Number.POSITIVE_INFINITY
      return step(state, event, nowMs)
    }),
    breaks: /nobody is stuck for ever/,
  },
  'whose sessions end early': {
    engine: brokenStep((state, event, nowMs) => {
      const result = step(state, event, nowMs)
      if (event.kind === 'heartbeat') for (const member of state.members.values()) member.sessionDueMs -= 2_500
      return result
    }),
    breaks: /gave no cause/,
  },
  'that never gives up a member which does not sync': {
    engine: brokenStep((state, event, nowMs) =>
      changed(step(state, event, nowMs), (after) => {
        after.syncDueMs = Number.POSITIVE_INFINITY
        for (const memberId of after.pendingSync) {
          const member = after.members.get(memberId)
          if (member !== undefined) member.sessionDueMs = Number.POSITIVE_INFINITY
        }
      }),
    ),
    breaks: /nobody is stuck for ever/,
  },
  'that mixes up two assignments': {
    engine: brokenStep((state, event, nowMs) => {
      if (event.kind !== 'sync' || event.assignments.length < 2) return step(state, event, nowMs)
      const [one, other, ...rest] = event.assignments
      if (one === undefined || other === undefined) return step(state, event, nowMs)
      const mixed = [{ ...one, assignment: other.assignment }, { ...other, assignment: one.assignment }, ...rest]
      return step(state, { ...event, assignments: mixed }, nowMs)
    }),
    breaks: /given what the leader said/,
  },
  'that gives one partition to two members': {
    engine: brokenStep((state, event, nowMs) => {
      if (event.kind !== 'sync') return step(state, event, nowMs)
      // Changes the bytes of the request itself, so that what was said and what is given agree.
      const [one, ...others] = event.assignments
      const partition = one?.assignment[0]
      if (partition !== undefined) for (const { assignment } of others) assignment.fill(partition)
      return step(state, event, nowMs)
    }),
    breaks: /one owner in generation/,
  },
  'that tells the leader of all members but one': {
    engine: brokenStep((state, event, nowMs) => {
      const result = step(state, event, nowMs)
      const replies = result.replies.map((reply) =>
        reply.kind === 'join'
          ? { ...reply, response: { ...reply.response, members: reply.response.members.slice(1) } }
          : reply,
      )
      return { ...result, replies }
    }),
    breaks: /the leader is told every member/,
  },
  'that answers a heartbeat twice': {
    engine: brokenStep((state, event, nowMs) => {
      const result = step(state, event, nowMs)
      return event.kind === 'heartbeat' ? { ...result, replies: [...result.replies, ...result.replies] } : result
    }),
    breaks: /every request gets one answer/,
  },
  'that moves away without a word': {
    engine: brokenStep((state, event, nowMs) => {
      const result = step(state, event, nowMs)
      return event.kind === 'unload' ? { ...result, replies: [] } : result
    }),
    breaks: /moves away answers every request/,
  },
  'that reads its log wrong': {
    engine: {
      ...realEngine,
      replay: (state, record) => {
        const offset = record.kind === 'offsetCommit' ? record.offset - 1 : 0
        return replay(state, record.kind === 'offsetCommit' ? { ...record, offset } : record)
      },
    },
    breaks: /knows what is durable/,
  },
}

function tokenOf(event: Parameters<Engine['step']>[1]): number {
  return 'requestToken' in event ? event.requestToken : -1
}

describe('the model notices a coordinator', () => {
  it.each(Object.entries(mutants))('%s', (_, { engine, breaks }) => {
    let noticed: unknown
    for (let seed = 1; seed <= 300 && noticed === undefined; seed++) {
      try {
        runWorld(seed, engine)
      } catch (error) {
        noticed = error
      }
    }
    expect(noticed).toBeInstanceOf(BrokenPromise)
    expect((noticed as BrokenPromise).message).toMatch(breaks)
  })
})

import type { JoinEvent, Protocol } from './events.ts'
import { never } from './group-state.ts'

export interface Member {
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  rebalanceTimeoutMs: number
  sessionTimeoutMs: number
  /** In the member's order of preference, names unique, bytes owned. */
  protocols: readonly Protocol[]
  assignment: Uint8Array
  /** In no generation yet: it cannot heartbeat, so its deadline counts even while its JoinGroup is parked. */
  isNew: boolean
  sessionDueMs: number
  /** Token of the parked JoinGroup. */
  joinToken: number | null
  /** Token of the parked SyncGroup. */
  syncToken: number | null
}

const noAssignment = new Uint8Array(0)

export function newMember(event: JoinEvent, memberId: string): Member {
  return {
    memberId,
    groupInstanceId: event.groupInstanceId,
    clientId: event.clientId,
    clientHost: event.clientHost,
    ...timeouts(event),
    protocols: ownProtocols(event.protocols),
    assignment: noAssignment,
    isNew: true,
    sessionDueMs: never,
    joinToken: null,
    syncToken: null,
  }
}

/**
 * JoinGroup v0 has no rebalance timeout and decodes to -1. Taking that at its word makes every join phase end at once
 * and throws out everybody who is not there yet, for ever (KAFKA-8679; brod PR 465).
 */
export function timeouts(event: JoinEvent): { sessionTimeoutMs: number; rebalanceTimeoutMs: number } {
  const { sessionTimeoutMs, rebalanceTimeoutMs } = event
  return { sessionTimeoutMs, rebalanceTimeoutMs: rebalanceTimeoutMs < 0 ? sessionTimeoutMs : rebalanceTimeoutMs }
}

/** A copy: the event's bytes may be a few hundred in a socket chunk of 64 KiB. A name listed twice counts once. */
export function ownProtocols(protocols: readonly Protocol[]): readonly Protocol[] {
  const owned: Protocol[] = []
  for (const { name, metadata } of protocols) {
    if (!owned.some((known) => known.name === name)) owned.push({ name, metadata: new Uint8Array(metadata) })
  }
  return owned
}

/** True if joining with `protocols` says nothing new: same names in the same order, same bytes. */
export function hasProtocols(member: Member, protocols: readonly Protocol[]): boolean {
  return (
    member.protocols.length === protocols.length &&
    member.protocols.every((own, i) => {
      const other = protocols[i]
      return other !== undefined && own.name === other.name && equalBytes(own.metadata, other.metadata)
    })
  )
}

/** The metadata for a protocol that the member supports; empty for any other. */
export function metadataFor(member: Member, protocolName: string | null): Uint8Array {
  return member.protocols.find(({ name }) => name === protocolName)?.metadata ?? noAssignment
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i])
}

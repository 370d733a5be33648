import type { GroupState } from './group-state.ts'
import type { GroupMetadataRecord } from './records.ts'
import { issueWrite, type Transition } from './transition.ts'

/** Writes what the expiry of offsets must know after a restart, if there are offsets and the log says otherwise. */
export function recordMetadataIfChanged(t: Transition): void {
  if (t.group.offsets.size === 0) return
  const records = changedMetadata(t.group)
  if (records.length > 0) issueWrite(t, records, null)
}

/** The record to write along with offsets; none if it would repeat the last one. */
export function changedMetadata(group: GroupState): readonly GroupMetadataRecord[] {
  const changed = currentMetadata(group).filter(
    ({ protocolType, emptySinceMs }) =>
      protocolType !== group.recordedMetadata?.protocolType || emptySinceMs !== group.recordedMetadata.emptySinceMs,
  )
  for (const record of changed) group.recordedMetadata = record
  return changed
}

/** What the log should say of the group; nothing of a simple one. */
export function currentMetadata(group: GroupState): readonly GroupMetadataRecord[] {
  const { groupId, protocolType } = group
  if (protocolType === null) return []
  return [
    { kind: 'groupMetadata', groupId, protocolType, emptySinceMs: group.phase === 'Empty' ? group.emptySinceMs : null },
  ]
}

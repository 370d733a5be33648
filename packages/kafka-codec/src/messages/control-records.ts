import { int16, int32 } from '../field.ts'
import { type MessageOf, message } from '../message.ts'

/**
 * What is in a control batch: the key says what kind of marker it is, the value belongs to the kind. Both begin with
 * the version of their schema (int16): see `encodeVersioned`.
 */

/** Values of `type` in the key. Clients of topics meet only the first two. */
export const controlRecordTypes = {
  abort: 0,
  commit: 1,
  leaderChange: 2,
  snapshotHeader: 3,
  snapshotFooter: 4,
  kraftVersion: 5,
  kraftVoters: 6,
} as const

export const controlRecordKey = message({
  name: 'ControlRecordTypeSchema',
  versions: [0, 0],
  fields: { type: int16() },
})

/** Value of an abort or commit marker. */
export const endTxnMarker = message({
  name: 'EndTxnMarker',
  versions: [0, 0],
  fields: { coordinatorEpoch: int32() },
})

export type ControlRecordKey = MessageOf<typeof controlRecordKey>
export type EndTxnMarker = MessageOf<typeof endTxnMarker>

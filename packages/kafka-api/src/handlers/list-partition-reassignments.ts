import { listPartitionReassignments } from '@pico/kafka-codec'
import { type Handler, handler } from '../handler.ts'

/*
 * ListPartitionReassignments 0 (KIP-455): none is ever under way, for a partition has one replica. kafka-topics asks on every --describe.
 */

export function listPartitionReassignmentsHandler(): Handler {
  return handler({
    api: listPartitionReassignments,
    versions: [0, 0],
    handle: () => ({ throttleTimeMs: 0, errorCode: 0, errorMessage: null, topics: [] }),
    fail: (_, errorCode) => ({ throttleTimeMs: 0, errorCode, errorMessage: null, topics: [] }),
  })
}

import type { AdminTransfer, AdminTransferRequest } from '@pico/http-contract'
import { HttpError } from '../server/http-error.ts'
import type { AdminBackend } from './admin-backend.ts'
import type { Directory, KnownTransfer } from './directory.ts'
import { noNode } from './node-answers.ts'
import { givenStreamName, isThere, noStream } from './stream-answers.ts'

export interface TransferAnswer {
  readonly status: 200 | 202
  readonly body: AdminTransfer
}

/**
 * A stream that is there already is no error: a script whose first request was answered to nobody asks again, perhaps when all is done,
 * and wants to know that it is. So the answer has the same form, and is `done`.
 */
export async function requestTransfer(
  { directory }: AdminBackend,
  { stream: given, toNode }: AdminTransferRequest,
  nowMs: number,
): Promise<TransferAnswer> {
  const name = givenStreamName(given)
  const [stream] = await directory.streams.byName([name])
  if (stream === undefined || !isThere(stream, nowMs)) throw noStream(name)
  await requireTaker(directory, toNode)
  const asked = await directory.transfers.request(stream.streamId, toNode, nowMs)
  if (asked === 'no-stream') throw noStream(name)
  if (asked === 'no-node') throw fenced(toNode)
  if (asked !== 'already-there') return { status: 202, body: adminTransfer(asked, name) }
  const done = { state: 'done', requestedAtMs: nowMs, endedAtMs: nowMs } as const
  return { status: 200, body: { transferId: null, stream: name, toNode, ...done } }
}

export async function oneTransfer({ directory }: AdminBackend, transferId: number): Promise<AdminTransfer> {
  const found = await directory.transfers.get(transferId)
  const [stream] = found === null ? [] : await directory.streams.byStreamId([found.streamId])
  if (found === null || stream === undefined) {
    throw new HttpError('not_found', `there is no transfer ${transferId}: it ended long ago, or its stream was deleted`)
  }
  return adminTransfer(found, stream.name)
}

/** @throws HttpError when the node is not there, or would give the stream up at once. */
async function requireTaker(directory: Directory, nodeId: number): Promise<void> {
  const nodes = await directory.nodes.list()
  const node = nodes.find((known) => known.nodeId === nodeId)
  if (node === undefined) throw noNode(nodeId)
  if (node.isFenced) throw fenced(nodeId)
  // With slots nowhere, every node keeps what it has.
  if (node.slots === 0 && nodes.some(({ isFenced, slots }) => !isFenced && slots > 0)) {
    throw new HttpError('conflict', `node ${nodeId} has no slots, and would give the stream up at once`)
  }
}

function fenced(nodeId: number): HttpError {
  return new HttpError('conflict', `node ${nodeId} is fenced, and takes no streams until it is back`)
}

function adminTransfer(transfer: KnownTransfer, stream: string): AdminTransfer {
  const { transferId, toNodeId, state, requestedAtMs, endedAtMs } = transfer
  return { transferId, stream, toNode: toNodeId, state, requestedAtMs, endedAtMs }
}

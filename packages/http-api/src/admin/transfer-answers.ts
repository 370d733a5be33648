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
  const asked = await directory.transfers.request(stream.streamId, toNode, nowMs)
  if (asked === 'no-stream') throw noStream(name)
  if (asked === 'no-node') throw await notTaking(directory, toNode)
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

async function notTaking(directory: Directory, nodeId: number): Promise<HttpError> {
  const isKnown = (await directory.nodes.list()).some((node) => node.nodeId === nodeId)
  return isKnown
    ? new HttpError('conflict', `node ${nodeId} is fenced, and takes no streams until it is back`)
    : noNode(nodeId)
}

function adminTransfer(transfer: KnownTransfer, stream: string): AdminTransfer {
  const { transferId, toNodeId, state, requestedAtMs, endedAtMs } = transfer
  return { transferId, stream, toNode: toNodeId, state, requestedAtMs, endedAtMs }
}

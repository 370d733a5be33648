import { setTimeout as sleep } from 'node:timers/promises'
import { type AdminTransfer, adminRoutes, adminTransferSchema } from '@pico/http-contract'
import { type ClientCommand, streamWord } from '../commands/client-command.ts'
import { CommandFailure } from '../commands/command-failure.ts'
import { UsageError } from '../exit-errors.ts'
import { AdminApi, AdminUnavailable, adminFlags } from './admin-api.ts'

const pollMs = 200
const timeoutSecDefault = 60

export const transferCommand: ClientCommand = {
  command: 'transfer <stream>',
  describe: 'Move a stream to another node',
  words: { stream: 'Its name; of a topic, that of partition 0: /_streams/topic/1 is the next one' },
  flags: {
    ...adminFlags,
    'to-node': { describe: 'Id of the node that shall have it' },
    wait: { describe: 'End when it is done, or fail when it is not', switch: true },
    'timeout-sec': { describe: 'With --wait: how long', default: String(timeoutSecDefault) },
  },
  local: true,
  async run(context) {
    const { flags, stdout, say, signal } = context
    const toNode = flags.wholeNumber('to-node')
    if (toNode === undefined) throw new UsageError('transfer: --to-node says which node shall have the stream')
    const timeoutSec = flags.wholeNumber('timeout-sec') ?? timeoutSecDefault
    const endsMs = performance.now() + timeoutSec * 1000
    const api = new AdminApi(flags, signal)
    const body = { stream: streamWord(context), toNode }
    const asked = await api.post(adminRoutes.transfer.path, body, adminTransferSchema)
    const isAwaited = flags.isOn('wait')
    if (isAwaited && asked.state === 'pending') say(`${textOf(asked)}; waiting`)
    const { transfer, outage } = isAwaited ? await ended(api, asked, endsMs, signal) : { transfer: asked, outage: null }
    if (flags.isOn('json')) await stdout.writeJson(transfer)
    else if (transfer.state === 'done' || !isAwaited) await stdout.write(`${textOf(transfer)}\n`)
    if (transfer.state === 'failed') throw new CommandFailure(textOf(transfer))
    if (isAwaited && transfer.state === 'pending') {
      const why = outage === null ? '' : `; ${outage.message}`
      throw new CommandFailure(`${textOf(transfer)} and not there after ${timeoutSec} s (--timeout-sec)${why}`)
    }
  },
}

interface Wait {
  readonly transfer: AdminTransfer
  /** Why nothing newer is known. */
  readonly outage: AdminUnavailable | null
}

/** Until the transfer is over, or there is no more time. A server that does not answer for a while is asked again. */
async function ended(api: AdminApi, asked: AdminTransfer, endsMs: number, signal: AbortSignal): Promise<Wait> {
  const path = adminRoutes.transferById.path.replace('{id}', String(asked.transferId))
  let transfer = asked
  let outage: AdminUnavailable | null = null
  while (transfer.state === 'pending') {
    const leftMs = endsMs - performance.now()
    if (leftMs <= 0) break
    await sleep(Math.min(pollMs, leftMs), undefined, { signal }).catch(() => signal.throwIfAborted())
    try {
      transfer = await api.get(path, adminTransferSchema)
      outage = null
    } catch (error) {
      if (!(error instanceof AdminUnavailable)) throw error
      outage = error
    }
  }
  return { transfer, outage }
}

function textOf({ transferId, stream, toNode, state }: AdminTransfer): string {
  if (transferId === null) return `node ${toNode} has ${stream} already`
  if (state === 'done') return `transfer ${transferId}: node ${toNode} has ${stream}`
  if (state === 'pending') return `transfer ${transferId}: ${stream} is on its way to node ${toNode}`
  return `transfer ${transferId} failed: node ${toNode} was not there to take ${stream}, or it was sent elsewhere meanwhile`
}

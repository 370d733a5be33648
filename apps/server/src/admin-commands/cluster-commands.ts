import {
  type AdminCluster,
  type AdminNode,
  adminClusterSchema,
  adminNodeSchema,
  adminNodesSchema,
  adminRoutes,
  pendingTransfersShownMax,
} from '@pico/http-contract'
import type { ClientCommand } from '../commands/client-command.ts'
import { wholeNumber } from '../commands/given-flags.ts'
import { AdminApi, adminFlags } from './admin-api.ts'
import { type Column, factLines, tableLines } from './table.ts'

export const clusterCommand: ClientCommand = {
  command: 'cluster',
  describe: 'Show the cluster as a node sees it',
  flags: adminFlags,
  local: true,
  async run({ flags, stdout, signal }) {
    const cluster = await new AdminApi(flags, signal).get(adminRoutes.cluster.path, adminClusterSchema)
    if (flags.isOn('json')) return stdout.writeJson(cluster)
    const { pendingTransfers, morePendingTransfers, ...facts } = cluster
    const count = morePendingTransfers ? `more than ${pendingTransfersShownMax}` : pendingTransfers.length
    const lines = factLines({ ...facts, pendingTransfers: count })
    if (pendingTransfers.length > 0) lines.push('', ...tableLines(transferColumns, pendingTransfers))
    await stdout.write(`${lines.join('\n')}\n`)
  },
}

const transferColumns: readonly Column<AdminCluster['pendingTransfers'][number]>[] = [
  { head: 'TRANSFER', isNumber: true, text: ({ transferId }) => transferId },
  { head: 'TO', isNumber: true, text: ({ toNode }) => toNode },
  { head: 'STREAM', text: ({ stream }) => stream },
]

export const nodesCommand: ClientCommand = {
  command: 'nodes',
  describe: 'List the nodes',
  flags: adminFlags,
  local: true,
  async run({ flags, stdout, signal }) {
    const { nodes } = await new AdminApi(flags, signal).get(adminRoutes.nodes.path, adminNodesSchema)
    const lines = flags.isOn('json') ? nodes.map((node) => JSON.stringify(node)) : tableLines(nodeColumns, nodes)
    await stdout.write(lines.map((line) => `${line}\n`).join(''))
  },
}

export const setSlotsCommand: ClientCommand = {
  command: 'set-slots <node> <slots>',
  describe: 'Set how much of the streams a node takes: twice the slots, twice the streams; 0 empties it',
  words: { node: 'Its id', slots: 'How many' },
  flags: adminFlags,
  local: true,
  async run({ words, flags, stdout, signal }) {
    const nodeId = wholeNumber(String(words['node']), 'node')
    const slots = wholeNumber(String(words['slots']), 'slots')
    const path = adminRoutes.changeNode.path.replace('{id}', String(nodeId))
    const node = await new AdminApi(flags, signal).post(path, { slots }, adminNodeSchema)
    if (flags.isOn('json')) return stdout.writeJson(node)
    await stdout.write(`${tableLines(nodeColumns, [node]).join('\n')}\n`)
  },
}

const nodeColumns: readonly Column<AdminNode>[] = [
  { head: 'NODE', isNumber: true, text: ({ nodeId }) => nodeId },
  { head: 'EPOCH', isNumber: true, text: ({ nodeEpoch }) => nodeEpoch },
  { head: 'HTTP', text: ({ httpAddress }) => httpAddress },
  { head: 'KAFKA', text: ({ kafkaAddress }) => kafkaAddress },
  { head: 'SLOTS', isNumber: true, text: ({ slots }) => slots },
  { head: 'STREAMS', isNumber: true, text: ({ streams }) => streams },
  {
    head: 'SILENT',
    isNumber: true,
    text: ({ silentMs }) => (silentMs === null ? null : `${(silentMs / 1000).toFixed(1)}s`),
  },
  { head: 'STATE', text: ({ fenced, local }) => `${fenced ? 'fenced' : 'live'}${local ? ', answers' : ''}` },
]

import { type AdminNode, adminClusterSchema, adminNodesSchema, adminRoutes } from '@pico/http-contract'
import type { ClientCommand } from '../commands/client-command.ts'
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
    const { pendingTransfers, ...facts } = cluster
    await stdout.write(`${factLines({ ...facts, pendingTransfers: pendingTransfers.length }).join('\n')}\n`)
  },
}

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

const nodeColumns: readonly Column<AdminNode>[] = [
  { head: 'NODE', isNumber: true, text: ({ nodeId }) => nodeId },
  { head: 'EPOCH', isNumber: true, text: ({ nodeEpoch }) => nodeEpoch },
  { head: 'HTTP', text: ({ httpAddress }) => httpAddress },
  { head: 'KAFKA', text: ({ kafkaAddress }) => kafkaAddress },
  { head: 'SLOTS', isNumber: true, text: ({ slots }) => slots },
  { head: 'STATE', text: ({ fenced, local }) => `${fenced ? 'fenced' : 'live'}${local ? ', answers' : ''}` },
]

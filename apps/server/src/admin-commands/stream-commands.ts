import { type AdminStream, adminRoutes, adminStreamSchema, adminStreamsSchema } from '@pico/http-contract'
import { type ClientCommand, streamWord } from '../commands/client-command.ts'
import { AdminApi, adminFlags } from './admin-api.ts'
import { type Column, factLines, tableLines } from './table.ts'

export const streamsCommand: ClientCommand = {
  command: 'streams [prefix]',
  describe: 'List streams by name, those of Kafka clients like any other',
  words: { prefix: 'Only those whose name begins so, such as orders/' },
  flags: adminFlags,
  local: true,
  async run({ words, flags, stdout, signal }) {
    const api = new AdminApi(flags, signal)
    const given = String(words['prefix'] ?? '')
    const prefix = given.startsWith('/') || given === '' ? given : `/${given}`
    const asJson = flags.isOn('json')
    // A page at a time: there may be more of them than fit into memory. Columns are as wide as each page needs.
    for (let after: string | null = ''; after !== null; ) {
      const query: Record<string, string> = { prefix, limit: '1000', ...(after === '' ? {} : { start_after: after }) }
      const page: { streams: AdminStream[]; next: string | null } = await api.get(
        adminRoutes.streams.path,
        adminStreamsSchema,
        query,
      )
      const lines = asJson ? page.streams.map((stream) => JSON.stringify(stream)) : tableLines(columns, page.streams)
      // The head of the table stands above the first page only.
      const shown = asJson || after === '' ? lines : lines.slice(1)
      await stdout.write(shown.map((line) => `${line}\n`).join(''))
      after = page.next
    }
  },
}

const columns: readonly Column<AdminStream>[] = [
  { head: 'START', isNumber: true, text: ({ startOffset }) => startOffset },
  { head: 'END', isNumber: true, text: ({ endOffset }) => endOffset },
  { head: 'BYTES', isNumber: true, text: ({ bytes }) => bytes },
  { head: 'NODE', isNumber: true, text: ({ ownerNodeId }) => ownerNodeId },
  { head: 'STATE', text: ({ state, closed }) => (closed ? 'closed' : state) },
  { head: 'TOPIC', text: ({ topic }) => topic },
  { head: 'NAME', text: ({ name }) => name },
]

export const streamCommand: ClientCommand = {
  command: 'stream <stream>',
  describe: 'Show a stream',
  words: { stream: 'Its name' },
  flags: adminFlags,
  local: true,
  async run(context) {
    const { flags, stdout, signal } = context
    const path = adminRoutes.stream.path.replace('{name}', encodeURIComponent(streamWord(context)))
    const stream = await new AdminApi(flags, signal).get(path, adminStreamSchema)
    if (flags.isOn('json')) return stdout.writeJson(stream)
    const { expiresAtMs, createdAtMs, pendingTransfer, ...facts } = stream
    const lines = factLines({
      ...facts,
      expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
      createdAt: new Date(createdAtMs).toISOString(),
      pendingTransfer: pendingTransfer === null ? null : `to node ${pendingTransfer.toNode}`,
    })
    await stdout.write(`${lines.join('\n')}\n`)
  },
}

import {
  type AdminGroup,
  type AdminGroupMember,
  type AdminGroupOffset,
  type AdminGroupSummary,
  adminGroupSchema,
  adminGroupsSchema,
  adminRoutes,
} from '@pico/http-contract'
import type { ClientCommand } from '../commands/client-command.ts'
import { AdminApi, adminFlags } from './admin-api.ts'
import { type Column, factLines, tableLines } from './table.ts'

export const groupsCommand: ClientCommand = {
  command: 'groups',
  describe: 'List consumer groups',
  flags: adminFlags,
  local: true,
  async run({ flags, stdout, signal }) {
    const api = new AdminApi(flags, signal)
    const asJson = flags.isOn('json')
    let query: Record<string, string> = { limit: '1000' }
    for (let isFirst = true; ; isFirst = false) {
      const page = await api.get(adminRoutes.groups.path, adminGroupsSchema, query)
      const lines = asJson ? page.groups.map((group) => JSON.stringify(group)) : tableLines(groupColumns, page.groups)
      const shown = asJson || isFirst ? lines : lines.slice(1)
      await stdout.write(shown.map((line) => `${line}\n`).join(''))
      if (page.next === null) return
      query = { limit: '1000', start_after: page.next }
    }
  },
}

const groupColumns: readonly Column<AdminGroupSummary>[] = [
  { head: 'STATE', text: ({ state, problem }) => state ?? problem },
  { head: 'PROTOCOL', text: ({ protocolType }) => protocolType || null },
  { head: 'GROUP', text: ({ groupId }) => groupId },
]

export const groupCommand: ClientCommand = {
  command: 'group <group>',
  describe: 'Show a consumer group: members, committed offsets and lag',
  words: { group: 'Its id' },
  flags: adminFlags,
  local: true,
  async run({ words, flags, stdout, signal }) {
    const path = adminRoutes.group.path.replace('{id}', encodeURIComponent(String(words['group'])))
    const group = await new AdminApi(flags, signal).get(path, adminGroupSchema)
    if (flags.isOn('json')) return stdout.writeJson(group)
    await stdout.write(`${groupLines(group).join('\n')}\n`)
  },
}

function groupLines({ members, offsets, ...facts }: AdminGroup): string[] {
  return [
    ...factLines({ ...facts, members: members.length }),
    ...(members.length === 0 ? [] : ['', ...tableLines(memberColumns, members)]),
    ...(offsets.length === 0 ? [] : ['', ...tableLines(offsetColumns, offsets)]),
  ]
}

const memberColumns: readonly Column<AdminGroupMember>[] = [
  { head: 'MEMBER', text: ({ memberId }) => memberId },
  { head: 'INSTANCE', text: ({ groupInstanceId }) => groupInstanceId },
  { head: 'HOST', text: ({ clientHost }) => clientHost },
  { head: 'ASSIGNED', text: ({ assignment }) => assignment?.map(assignedText).join(' ') ?? null },
]

function assignedText({
  topic,
  partitions,
}: {
  readonly topic: string
  readonly partitions: readonly number[]
}): string {
  return `${topic}:${partitions.join(',')}`
}

const offsetColumns: readonly Column<AdminGroupOffset>[] = [
  { head: 'PARTITION', isNumber: true, text: ({ partition }) => partition },
  { head: 'COMMITTED', isNumber: true, text: ({ committedOffset }) => committedOffset },
  { head: 'END', isNumber: true, text: ({ endOffset }) => endOffset },
  { head: 'LAG', isNumber: true, text: ({ lag }) => lag },
  { head: 'TOPIC', text: ({ topic }) => topic },
]

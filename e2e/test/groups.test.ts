import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Broker, brokersUnderTest } from '../src/broker.ts'
import { committedOffsets, groupIds, viewOf } from '../src/groups/group-view.ts'
import { type GroupMember, memberKinds } from '../src/groups/member.ts'
import { writeValues } from '../src/groups/write-values.ts'
import { createTopicsOf } from '../src/raw-topics.ts'
import { missing } from '../src/toolchain.ts'

const kinds: typeof memberKinds = await present()
const perRound = 100
const patience = { timeout: 60_000, interval: 100 }

describe.each(brokersUnderTest(['pico']))('consumer groups: $name', ({ start }) => {
  let broker: Broker
  const members: GroupMember[] = []
  beforeAll(async () => {
    broker = await start()
  }, 120_000)
  afterEach(async () => {
    for (const member of members.splice(0)) await member.stop()
  })
  afterAll(() => broker?.close())

  it.each(kinds)(
    '$name: every record is read and none again after its commit, through two members and a killed broker',
    async (kind) => {
      const groupId = `group of ${kind.name}`
      const name = kind.name.replaceAll(/[^A-Za-z0-9]+/g, '-')
      const topics = [1, 2, 3, 4].map((number) => `${name}.${number}`)
      const written = new Set<string>()
      const join = async () => {
        const member = await kind.start({ bootstrap: broker.bootstrap, groupId, topics })
        members.push(member)
        return member
      }
      const leave = async (member: GroupMember) => {
        members.splice(members.indexOf(member), 1)
        await member.stop()
      }
      const writeRound = async () => {
        const from = written.size / topics.length
        const values = (topic: string) => Array.from({ length: perRound }, (_, index) => `${topic}:${from + index}`)
        await writeValues(broker.port, new Map(topics.map((topic) => [topic, values(topic)])))
        for (const topic of topics) for (const value of values(topic)) written.add(value)
      }
      const readers: GroupMember[] = []
      const allAreRead = () => {
        const read = new Set(readers.flatMap(({ values }) => values))
        return [...written].filter((value) => !read.has(value))
      }
      const shared = async (count: number) => {
        await expect
          .poll(() => sharing(broker.port, groupId, topics), patience)
          .toBe(`${count} members share everything`)
      }
      const offsets = async () => [...(await committedOffsets(broker.port, groupId, topics)).values()]

      await createTopicsOf(broker.port, topics)
      await writeRound()
      const first = await join()
      readers.push(first)
      await expect.poll(allAreRead, patience).toEqual([])

      const second = await join()
      readers.push(second)
      await shared(2)
      await writeRound()
      await expect.poll(allAreRead, patience).toEqual([])
      await expect.poll(offsets, patience).toEqual(topics.map(() => 2 * perRound))

      await broker.restart('kill')
      const kept = topics.map(() => 2 * perRound)
      await expect.poll(offsets, patience).toEqual(kept)
      await expect.poll(() => groupIds(broker.port), patience).toContain(groupId)
      const readBefore = readers.map(({ values }) => values.length)
      await writeRound()
      await expect.poll(allAreRead, patience).toEqual([])
      await shared(2)
      const readAgain = readers
        .flatMap(({ values }, index) => values.slice(readBefore[index]))
        .filter((value) => seqOf(value) < 2 * perRound)
      expect(readAgain, 'what was committed before the crash is not read again').toEqual([])

      await leave(first)
      await shared(1)
      await writeRound()
      await expect.poll(allAreRead, patience).toEqual([])
      await leave(second)

      const fresh = await join()
      readers.push(fresh)
      await writeRound()
      await expect.poll(allAreRead, patience).toEqual([])
      expect(
        fresh.values.filter((value) => seqOf(value) < 4 * perRound),
        'who leaves commits what it has read',
      ).toEqual([])
      await leave(fresh)
      await expect.poll(offsets, patience).toEqual(topics.map(() => 5 * perRound))
    },
    300_000,
  )
})

/** Whether each topic belongs to one member of a stable group, and each member has some. */
async function sharing(port: number, groupId: string, topics: readonly string[]): Promise<string> {
  const { state, assignments } = await viewOf(port, groupId)
  const isFair = assignments.every(({ length }) => length > 0)
  const isWhole = assignments.flat().sort().join() === [...topics].sort().join()
  return state === 'Stable' && isFair && isWhole
    ? `${assignments.length} members share everything`
    : `${state}: ${JSON.stringify(assignments)}`
}

function seqOf(value: string): number {
  return Number(value.slice(value.lastIndexOf(':') + 1))
}

async function present() {
  const found = []
  for (const kind of memberKinds) if (!(await missing(kind.tool))) found.push(kind)
  return found
}

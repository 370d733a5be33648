import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Broker, brokersUnderTest } from '../src/broker.ts'
import { consumerGroups, consumerPerformance } from '../src/groups/java-tools.ts'
import { writeValues } from '../src/groups/write-values.ts'
import { createTopicsOf } from '../src/raw-topics.ts'
import { javaTools, missing } from '../src/toolchain.ts'

const group = 'perf'
const topic = 'tools.1'
const records = 1000

/** What Kafka's own tools do with groups, in the order that an operator might. Each step builds on the one before. */
describe.skipIf(await missing(javaTools)).each(brokersUnderTest(['pico']))('tools for groups: $name', ({ start }) => {
  let broker: Broker
  const tool = (...args: string[]) => consumerGroups(broker.bootstrap, ...args)
  const offsets = async () => (await tool('--describe', '--group', group))[1]
  beforeAll(async () => {
    broker = await start()
    await createTopicsOf(broker.port, [topic])
    await writeValues(broker.port, new Map([[topic, Array.from({ length: records }, (_, index) => `${index}`)]]))
  }, 120_000)
  afterAll(() => broker?.close())

  it('the performance test reads everything as a group, and commits it', async () => {
    expect(await consumerPerformance(broker.bootstrap, group, topic, records)).toBe(records)
    expect(await offsets()).toBe(`${group} ${topic} 0 ${records} ${records} 0 - - -`)
  }, 120_000)

  it('the group is listed, with its state and its type', async () => {
    expect(await tool('--list')).toEqual([group])
    expect((await tool('--list', '--state'))[1]).toBe(`${group} Empty`)
    expect((await tool('--list', '--type'))[1]).toBe(`${group} Classic`)
    const [, state] = await tool('--describe', '--group', group, '--state')
    expect(state).toBe(`${group} ${broker.bootstrap} (1) - Empty 0`)
  }, 120_000)

  it('its offsets are reset, to be read again from there', async () => {
    await tool('--reset-offsets', '--group', group, '--topic', topic, '--to-offset', '400', '--execute')
    expect(await offsets()).toBe(`${group} ${topic} 0 400 ${records} 600 - - -`)
    await broker.restart('kill')
    expect(await consumerPerformance(broker.bootstrap, group, topic, 600)).toBe(600)
    expect(await offsets()).toBe(`${group} ${topic} 0 ${records} ${records} 0 - - -`)
  }, 120_000)

  it('its offsets are deleted, and then the group itself', async () => {
    const deleted = await tool('--delete-offsets', '--group', group, '--topic', topic)
    expect(deleted).toContain(`${topic} 0 Successful`)
    expect(await offsets()).toBeUndefined()
    expect((await tool('--delete', '--group', group))[0]).toContain('was successful')
    expect((await tool('--delete', '--group', group)).join()).toContain('GroupIdNotFoundException')
    expect(await tool('--list')).toEqual([])
    await broker.restart('kill')
    expect(await tool('--list')).toEqual([])
  }, 120_000)

  it('a group that never was gets offsets before its first member comes', async () => {
    await tool('--reset-offsets', '--group', 'new', '--topic', topic, '--to-earliest', '--execute')
    expect((await tool('--describe', '--group', 'new'))[1]).toBe(`new ${topic} 0 0 ${records} ${records} - - -`)
  }, 120_000)
})

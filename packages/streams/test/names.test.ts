import { describe, expect, it } from 'vitest'
import { collisionName, streamNameOf, topicNameProblem, topicOfStreamName } from '../src/names.ts'

describe('topic names', () => {
  it.each(['a', 'orders.eu', '_schemas', '__consumer_offsets', '...', '-', 'A_b-9.z', 'x'.repeat(249)])(
    'takes %s, as Kafka does',
    (name) => {
      expect(topicNameProblem(name)).toBeNull()
    },
  )

  it.each([
    ['', 'empty'],
    ['.', 'not allowed'],
    ['..', 'not allowed'],
    ['x'.repeat(250), '250 characters'],
    ['a/b', 'characters other than'],
    ['a b', 'characters other than'],
    ['ä', 'characters other than'],
    ['a\n', 'characters other than'],
    ['a\0', 'characters other than'],
  ])('refuses %j and says why', (name, why) => {
    expect(topicNameProblem(name)).toContain(why)
  })

  it('counts . and _ as the same for collisions', () => {
    expect(collisionName('a.b_c')).toBe(collisionName('a_b.c'))
    expect(collisionName('a.b')).not.toBe(collisionName('a-b'))
  })
})

describe('streams of topics', () => {
  it('keeps partition 0 under the name of the topic', () => {
    expect(streamNameOf('orders.eu', 0)).toBe('/orders.eu')
  })

  it('keeps further partitions out of the way', () => {
    expect(streamNameOf('orders.eu', 3)).toBe('/_streams/orders.eu/3')
  })

  it('keeps a topic that is called as a reserved path is out of that path', () => {
    expect(streamNameOf('_schemas', 0)).toBe('/_streams/_schemas/0')
    expect(streamNameOf('_sys', 0)).toBe('/_streams/_sys/0')
    expect(streamNameOf('_schemas2', 0)).toBe('/_schemas2')
  })

  it.each([
    ['/orders', 'orders'],
    ['/orders/eu', 'orders.eu'],
    ['/orders.eu', 'orders.eu'],
    ['/orders/eu west', null],
    ['/_sys/groups/g', null],
    ['/_schemas/x', null],
    ['/_streams/orders/1', null],
    ['/', null],
    ['', null],
    ['/a//b', null],
    [`/${'x'.repeat(250)}`, null],
  ])('finds the topic that the stream %s would be: %s', (stream, topic) => {
    expect(topicOfStreamName(stream)).toBe(topic)
  })
})

import { describe, expect, it } from 'vitest'
import { topicsOfSubscription } from '../src/consumer-subscription.ts'
import { subscription } from './subscription.ts'

/**
 * Subscription v3 as Kafka's ConsumerProtocolSubscription.json lays it out: version 3, topics [orders], no user data,
 * owned partitions [{orders, [0]}], generation 7, rack "r".
 */
const v3 = '0003 00000001 0006 6f7264657273 ffffffff 00000001 0006 6f7264657273 00000001 00000000 00000007 0001 72'
const fromHex = (hex: string) => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'))

describe('the topics of a subscription', () => {
  it.each([[[]], [['t']], [['orders', 'payments', 'ünïcode']]])('read back as %j', (topics) => {
    expect(topicsOfSubscription(subscription(...topics))).toEqual(topics)
  })

  it('are read from any version, whatever follows them', () => {
    expect(topicsOfSubscription(fromHex(v3))).toEqual(['orders'])
    expect(topicsOfSubscription(fromHex(v3.replace('0003', '7fff')))).toEqual(['orders'])
  })

  it.each([
    ['nothing', ''],
    ['a negative version', 'ffff 00000000'],
    ['a negative count', '0000 ffffffff'],
    ['a count that the bytes do not hold', '0000 7fffffff'],
    ['a negative length', '0000 00000001 ffff'],
  ])('are unknown from %s', (_, hex) => {
    expect(topicsOfSubscription(fromHex(hex))).toBeNull()
  })

  it('are unknown from every cut through them', () => {
    const whole = subscription('orders', 'payments')
    const topicsEnd = whole.length - 4
    for (let length = 0; length < topicsEnd; length++) {
      expect(topicsOfSubscription(whole.subarray(0, length))).toBeNull()
    }
    expect(topicsOfSubscription(whole.subarray(0, topicsEnd))).toEqual(['orders', 'payments'])
  })
})

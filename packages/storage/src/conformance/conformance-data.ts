import type { ObjectInfo } from '../object-store.ts'

export const badKeys = [
  '',
  '/',
  '/a',
  'a/',
  'a//b',
  '.',
  '..',
  '../a',
  'a/../b',
  'a/./b',
  'a/..',
  'a b',
  'a\\b',
  'a\nb',
  'a\0b',
  '~a',
  'ä',
  'a:b',
  'a?b',
  'a%2Fb',
  'a'.repeat(256),
  `${'a/'.repeat(256)}b`,
]

export function bytesOf(text: string): Buffer {
  return Buffer.from(text)
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString()
}

/** Bytes of which no two places look alike. */
export function patterned(length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let state = 1
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[i] = state >>> 16
  }
  return bytes
}

export async function keysOf(list: AsyncIterable<ObjectInfo>): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of list) keys.push(key)
  return keys
}

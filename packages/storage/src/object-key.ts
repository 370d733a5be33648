import { InvalidKeyError } from './errors.ts'

const keyBytesMax = 512
/** What file systems allow for one name. */
const segmentBytesMax = 255

/** Throws `InvalidKeyError` unless `key` follows the rule at `ObjectStore`. ASCII only, so characters are bytes. */
export function checkObjectKey(key: string): void {
  if (key.length === 0) throw new InvalidKeyError(key, 'it is empty')
  checkCharacters(key)
  for (const segment of key.split('/')) checkSegment(key, segment)
}

/** A prefix is the start of a key, so its last segment may be cut anywhere. */
export function checkObjectPrefix(prefix: string): void {
  checkCharacters(prefix)
  for (const segment of prefix.split('/').slice(0, -1)) checkSegment(prefix, segment)
}

function checkCharacters(key: string): void {
  if (key.length > keyBytesMax) throw new InvalidKeyError(key, `it is longer than ${keyBytesMax} bytes`)
  if (!/^[A-Za-z0-9._/-]*$/.test(key)) throw new InvalidKeyError(key, 'only A-Z a-z 0-9 . _ - and / are allowed')
}

function checkSegment(key: string, segment: string): void {
  if (segment.length > segmentBytesMax) {
    throw new InvalidKeyError(key, `a segment is longer than ${segmentBytesMax} bytes`)
  }
  if (segment === '') throw new InvalidKeyError(key, 'a segment is empty')
  if (segment === '.' || segment === '..') throw new InvalidKeyError(key, `${segment} is not a segment`)
}

import { offsetToken, type StreamPosition } from './offset-token.ts'

/**
 * What a response holds, exactly: which life of the name, from where to where, and whether the stream ends there. A response that ends
 * at the tail has another tag once the stream is closed, for then it says more.
 */
export function etagOf(incarnation: string, from: StreamPosition, to: StreamPosition, isEnd: boolean): string {
  return `"${incarnation}:${offsetToken(from)}:${offsetToken(to)}${isEnd ? ':c' : ''}"`
}

/** RFC 9110 section 13.1.2: weak comparison with each of a list, `*` is any. */
export function isNoneMatchFailed(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some((match) => match[1] === etag)
}

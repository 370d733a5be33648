/** First path segments that are the system's own: no client writes to what lies under them. */
export const reservedSegments: readonly string[] = ['_sys', '_schemas', '_streams']

/** Of a decoded name, in UTF-8, slash included. */
export const streamNameBytesMax = 1024

/** What a plain name looks like: nothing to decode, one byte a character. The dots are judged segment by segment. */
const plainPath = /^(?:\/[A-Za-z0-9_~!$&'()*+,;=:@-][A-Za-z0-9._~!$&'()*+,;=:@-]*)+$/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const controlCharacter = /[\u0000-\u001f\u007f-\u009f]/
const visibleAscii = /^[\x21-\x7e]*$/

export type StreamNameOutcome =
  | { readonly name: string; readonly problem?: never }
  | { readonly name?: never; readonly problem: string }

/** The stream that a request path (without its query) names: percent-decoded once. */
export function streamNameOfPath(path: string): StreamNameOutcome {
  if (path.length <= streamNameBytesMax && plainPath.test(path)) return { name: path }
  // Otherwise another client's bytes would be somebody's guess: UTF-8 or Latin-1.
  if (!visibleAscii.test(path)) return { problem: 'the path has characters that are not percent-encoded' }
  const name = percentDecoded(path)
  if (name === null) return { problem: 'the path is not percent-encoded UTF-8' }
  const problem = streamNameProblem(name)
  return problem === null ? { name } : { problem }
}

/** What is wrong with a decoded name, or null. */
export function streamNameProblem(name: string): string | null {
  if (!name.startsWith('/')) return 'a stream name begins with a slash'
  if (new TextEncoder().encode(name).length > streamNameBytesMax) {
    return `a stream name has at most ${streamNameBytesMax} bytes`
  }
  if (!name.isWellFormed()) return 'a stream name is Unicode text'
  if (controlCharacter.test(name)) return 'a stream name has no control characters'
  for (const segment of name.slice(1).split('/')) {
    if (segment === '') return 'a stream name has no empty segment'
    if (segment === '.' || segment === '..') return `a stream name has no segment "${segment}"`
  }
  return null
}

/** The path to ask for: every segment encoded, so that decoding it once gives the name. */
export function pathOfStreamName(name: string): string {
  return name.split('/').map(encodeURIComponent).join('/')
}

export function isReservedName(name: string): boolean {
  const end = name.indexOf('/', 1)
  return reservedSegments.includes(name.slice(1, end < 0 ? name.length : end))
}

function percentDecoded(path: string): string | null {
  try {
    return decodeURIComponent(path)
  } catch (error) {
    if (error instanceof URIError) return null
    throw error
  }
}

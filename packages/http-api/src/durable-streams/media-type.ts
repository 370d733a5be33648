/** What a stream is without a type of its own. */
export const defaultContentType = 'application/octet-stream'

/** RFC 9110 section 8.3.1: type, subtype, and parameters of whatever kind. */
const wellFormed = /^\s*[!#$%&'*+.^_`|~\dA-Za-z-]+\/[!#$%&'*+.^_`|~\dA-Za-z-]+\s*(;.*)?$/

/** The header as it is when it names a media type; null when it is absent or names none. */
export function givenContentType(header: string | undefined): string | null {
  return header !== undefined && wellFormed.test(header) ? header.trim() : null
}

/** Type and subtype alone, in lower case: two of them are the same type when these are equal. */
export function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';')
  return (end === -1 ? contentType : contentType.slice(0, end)).trim().toLowerCase()
}

export function isSameMediaType(a: string, b: string): boolean {
  return mediaTypeOf(a) === mediaTypeOf(b)
}

/**
 * How a stream is read: as a JSON array of messages (only `application/json`; `+json` types and NDJSON are bytes), as text in events,
 * or as bytes, which events carry in base64.
 */
export type StreamMode = 'json' | 'text' | 'bytes'

export function modeOf(contentType: string): StreamMode {
  const mediaType = mediaTypeOf(contentType)
  if (mediaType === 'application/json') return 'json'
  return mediaType.startsWith('text/') ? 'text' : 'bytes'
}

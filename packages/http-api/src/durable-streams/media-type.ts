import { isMediaType, mediaTypeOf, mediaTypes } from '@pico/http-contract'

/** The header as it is when it names a media type; null when it is absent or names none. */
export function givenContentType(header: string | undefined): string | null {
  const contentType = header?.trim()
  return contentType !== undefined && isMediaType(contentType) ? contentType : null
}

/** Without regard to case and parameters. */
export function isSameMediaType(a: string, b: string): boolean {
  return a === b || mediaTypeOf(a) === mediaTypeOf(b)
}

/**
 * How a stream is read: as a JSON array of messages (only `application/json`; `+json` types and NDJSON are bytes), as text in events,
 * or as bytes, which events carry in base64.
 */
export type StreamMode = 'json' | 'text' | 'bytes'

export function modeOf(contentType: string): StreamMode {
  const mediaType = mediaTypeOf(contentType)
  if (mediaType === mediaTypes.json) return 'json'
  return mediaType.startsWith('text/') ? 'text' : 'bytes'
}

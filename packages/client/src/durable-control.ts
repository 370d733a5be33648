import { PicoError } from './errors.ts'

/** `{"streamNextOffset", "streamCursor"?, "upToDate"?, "streamClosed"?}`. @throws PicoError 'bad_response' */
export function controlFieldsOf(data: string): { next: string; upToDate: boolean; closed: boolean } {
  let parsed: unknown
  try {
    parsed = JSON.parse(data)
  } catch (cause) {
    throw new PicoError('bad_response', 'a control event came that is no JSON', { cause })
  }
  const fields = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  const { streamNextOffset: next, upToDate, streamClosed } = fields
  if (typeof next !== 'string') throw new PicoError('bad_response', 'a control event came without streamNextOffset')
  return { next, upToDate: upToDate === true || streamClosed === true, closed: streamClosed === true }
}

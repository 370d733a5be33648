import { type Answer, done, missed } from './answer.ts'
import { descriptionHeaders } from './create.ts'
import type { DurableRequest, DurableStreamsParts } from './request.ts'

/** HEAD: asking after a stream is no use of it, and does not put off its end. */
export async function describe(request: DurableRequest, { streams }: DurableStreamsParts): Promise<Answer> {
  const stream = await streams.describe(request.name)
  if (typeof stream === 'string' || 'kind' in stream) return missed(stream)
  return done(200, { ...descriptionHeaders(stream), 'Cache-Control': 'no-store' })
}

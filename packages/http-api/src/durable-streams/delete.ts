import { type Answer, done, missed } from './answer.ts'
import type { DurableRequest, DurableStreamsParts } from './request.ts'

/** DELETE: those who wait are told. What has forks is gone for everybody else. */
export async function deleteStream(request: DurableRequest, { streams }: DurableStreamsParts): Promise<Answer> {
  const outcome = await streams.delete(request.name)
  return outcome === 'deleted' ? done(204, {}) : missed(outcome)
}

import { httpCall } from '../cross/http-call.ts'
import type { KindUnderTest } from './kinds.ts'

/** Registers a version of a schema, and says its id. */
export async function putSchema(url: string, name: string, kind: KindUnderTest['kind'], text: string): Promise<number> {
  const answer = await httpCall(url, { method: 'PUT', target: `/_schemas/${name}?kind=${kind}`, body: text })
  if (answer.status !== 201 && answer.status !== 200) throw new Error(`schema ${name}: ${answer.status} ${answer.body}`)
  return (JSON.parse(answer.body.toString()) as { schema_id: number }).schema_id
}

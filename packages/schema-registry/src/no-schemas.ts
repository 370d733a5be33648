import { SchemaUnavailableError } from './errors.ts'
import type { SchemaBinding, SchemaJudge } from './schema.ts'

/** Where there is no registry: nothing is good that was bound to a schema elsewhere, and nothing is written unjudged. */
export const noSchemas: SchemaJudge = { judgeBatch: unavailable, judgeValues: unavailable }

function unavailable({ name, version }: SchemaBinding): Promise<never> {
  return Promise.reject(new SchemaUnavailableError(`there is no registry here to have ${name}:${version} from`))
}

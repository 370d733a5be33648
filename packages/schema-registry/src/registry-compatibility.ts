import { type CompatibilityPolicy, demandsOf } from './registry-policies.ts'
import type { SchemaProblem, SchemaSource } from './schema.ts'
import type { SchemaWorkers } from './workers/schema-workers.ts'

/** Why a new version must not follow an old one. */
export interface Incompatibility extends SchemaProblem {
  /** The old version. */
  readonly version: number
}

/** Whether `next` may follow `previous`, as the policy has it. */
export async function incompatibilitiesWith(
  workers: Pick<SchemaWorkers, 'incompatibilities'>,
  policy: CompatibilityPolicy,
  next: SchemaSource,
  previous: { readonly version: number; readonly source: SchemaSource },
): Promise<Incompatibility[]> {
  const { newReadsOld, oldReadsNew } = demandsOf(policy)
  const { version, source } = previous
  if (!newReadsOld && !oldReadsNew) return []
  if (source.kind !== next.kind) {
    return [{ version, path: '', reason: `version ${version} is of kind ${source.kind}, this is of kind ${next.kind}` }]
  }
  const problems: SchemaProblem[] = []
  if (newReadsOld) problems.push(...(await workers.incompatibilities(next, source)))
  if (oldReadsNew) {
    for (const { path, reason } of await workers.incompatibilities(source, next)) {
      problems.push({ path, reason: `${reason} (version ${version} reading what this one writes)` })
    }
  }
  return problems.map(({ path, reason }) => ({ version, path, reason }))
}

/**
 * What a new version has to be to the newest one, or with `-transitive` to all before it. `backward`: it reads what they wrote. `forward`: they
 * read what it writes. `full`: both. The same as Confluent's compatibility levels.
 */
export const compatibilityPolicies = [
  'none',
  'backward',
  'backward-transitive',
  'forward',
  'forward-transitive',
  'full',
  'full-transitive',
] as const
export type CompatibilityPolicy = (typeof compatibilityPolicies)[number]

export const defaultCompatibilityPolicy: CompatibilityPolicy = 'backward'

export interface PolicyDemands {
  readonly newReadsOld: boolean
  readonly oldReadsNew: boolean
  readonly isTransitive: boolean
}

export function demandsOf(policy: CompatibilityPolicy): PolicyDemands {
  return {
    newReadsOld: policy.startsWith('backward') || policy.startsWith('full'),
    oldReadsNew: policy.startsWith('forward') || policy.startsWith('full'),
    isTransitive: policy.endsWith('-transitive'),
  }
}

export function isCompatibilityPolicy(text: string): text is CompatibilityPolicy {
  return (compatibilityPolicies as readonly string[]).includes(text)
}

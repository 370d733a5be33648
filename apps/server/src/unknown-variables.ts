import { nearestName } from './nearest-name.ts'
import { variableOf } from './serve-flags.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Those that are no flag's: where named settings are kept, and fault points. */
const withoutFlag = ['PICO_ALLOW_FAULTS', 'PICO_CONFIG', 'PICO_FAULT']

/** What Kubernetes sets in every container once there is a service called `pico` or `pico-…`. */
const serviceLink = /^PICO_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_\d+_(TCP|UDP|SCTP)(_.+)?)?)$/

/**
 * A line for each variable that looks as if it were meant for us and is not. They are no reason to refuse: whoever sets them may not be
 * whoever gives the command.
 */
export function unknownVariables(environment: Environment, knownFlags: readonly string[]): string[] {
  const known = [...knownFlags.map(variableOf), ...withoutFlag]
  return Object.keys(environment)
    .filter((name) => name.startsWith('PICO_') && !known.includes(name) && !serviceLink.test(name))
    .sort()
    .map((name) => {
      const meant = nearestName(name, known)
      return `the variable ${name} is unknown and has no effect${meant === undefined ? '' : `; did you mean ${meant}?`}`
    })
}

import { nearestName } from './nearest-name.ts'

/** Of the other commands, and of fault points: they may well be set where a server runs. */
const otherVariables = [
  'PICO_ADMIN_ENDPOINT',
  'PICO_ALLOW_FAULTS',
  'PICO_CONFIG',
  'PICO_ENDPOINT',
  'PICO_FAULT',
  'PICO_HTTP2',
  'PICO_PROFILE',
  'PICO_TOKEN',
]

/** What Kubernetes sets in every container once there is a service called `pico` or `pico-…`. */
const serviceLink = /^PICO_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_\d+_(TCP|UDP|SCTP)(_.+)?)?)$/

/**
 * A line for each variable that looks as if it were meant for us and is not. They are no reason to refuse: whoever sets them may not be
 * the operator.
 */
export function unknownVariables(
  environment: Readonly<Record<string, string | undefined>>,
  known: readonly string[],
): string[] {
  const mayBe = new Set([...known, ...otherVariables])
  return Object.keys(environment)
    .filter((name) => name.startsWith('PICO_') && !mayBe.has(name) && !serviceLink.test(name))
    .sort()
    .map((name) => {
      const meant = nearestName(name, known)
      return `the variable ${name} is unknown and has no effect${meant === undefined ? '' : `; did you mean ${meant}?`}`
    })
}

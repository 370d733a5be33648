import type { z } from 'zod'

/** A message may list all that a request has and should not have. */
const lengthMax = 300

/** The first of the problems that zod found, in one line: where, and what. */
export function problemText(error: z.core.$ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'is not valid'
  const message = issue.message.length > lengthMax ? `${issue.message.slice(0, lengthMax)}…` : issue.message
  const where = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : String(key))).join('.')
  return where === '' ? message : `${where.replaceAll('.[', '[')}: ${message}`
}

import type { z } from 'zod'

/** The first of the problems that zod found, in one line: where, and what. */
export function problemText(error: z.core.$ZodError): string {
  const [issue] = error.issues
  if (issue === undefined) return 'is not valid'
  const where = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : String(key))).join('.')
  return where === '' ? issue.message : `${where.replaceAll('.[', '[')}: ${issue.message}`
}

import type { Fields } from '@pico/kafka-codec'

/** Calls back for every error code of a response that is not 0, wherever it stands. */
export type ErrorCodeWalk = (response: unknown, visit: (errorCode: number) => void) => void

type Struct = Readonly<Record<string, unknown>>

/** Null for a response that has no error code. Where they are is found out once, from the description of the API. */
export function errorCodeWalk(fields: Fields): ErrorCodeWalk | null {
  const steps: ErrorCodeWalk[] = []
  for (const [name, field] of Object.entries(fields)) {
    if (name === 'errorCode') steps.push((struct, visit) => visitCode((struct as Struct)[name], visit))
    const inner = field.element?.fields ?? field.fields
    const walk = inner === undefined ? null : errorCodeWalk(inner)
    if (walk === null) continue
    steps.push(
      field.kind === 'array'
        ? (struct, visit) => {
            for (const element of ((struct as Struct)[name] ?? []) as readonly unknown[]) walk(element, visit)
          }
        : (struct, visit) => {
            const value = (struct as Struct)[name]
            if (value !== null && value !== undefined) walk(value, visit)
          },
    )
  }
  if (steps.length === 0) return null
  return (struct, visit) => {
    for (const step of steps) step(struct, visit)
  }
}

function visitCode(errorCode: unknown, visit: (errorCode: number) => void): void {
  if (typeof errorCode === 'number' && errorCode !== 0) visit(errorCode)
}

import type { DraftRefusal, Incompatible, RemoveSchemaOutcome } from '@pico/schema-registry'

/** What Confluent's registry answers when something goes wrong: an HTTP status, and a code of its own. */
export class ConfluentError extends Error {
  readonly status: number
  readonly errorCode: number

  constructor(errorCode: number, message: string) {
    super(message)
    this.name = 'ConfluentError'
    this.errorCode = errorCode
    // A code is a status with digits of its own behind it, or a status.
    this.status = errorCode >= 1000 ? Math.trunc(errorCode / 100) : errorCode
  }
}

export const subjectNotFound = (subject: string) => new ConfluentError(40401, `Subject '${subject}' not found.`)
export const versionNotFound = (version: number) => new ConfluentError(40402, `Version ${version} not found.`)
export const schemaNotFound = (schemaId?: number) =>
  new ConfluentError(40403, schemaId === undefined ? 'Schema not found' : `Schema ${schemaId} not found`)
export const invalidSchema = (why: string) => new ConfluentError(42201, `Invalid schema: ${why}`)
export const invalidVersion = (text: string) =>
  new ConfluentError(
    42202,
    `The specified version '${text}' is not a valid version id. Allowed values are between [1, 2^31-1] and the string "latest"`,
  )

export function refusedDraft(subject: string, refusal: DraftRefusal | Incompatible): ConfluentError {
  switch (refusal.outcome) {
    case 'bad-name':
      return new ConfluentError(42208, `The specified subject '${subject}' is not a valid subject: ${refusal.reason}`)
    case 'too-large':
      return new ConfluentError(42209, `The schema is too large: ${refusal.reason}`)
    case 'invalid':
      return invalidSchema(lines(refusal.problems).join('; '))
    case 'unknown-reference': {
      const { importName, name, version } = refusal.reference
      return invalidSchema(`no schema reference found for subject "${name}" and version ${version} (${importName})`)
    }
    case 'incompatible': {
      const details = lines(refusal.problems).join('; ')
      const message = `Schema being registered is incompatible with an earlier schema for subject "${subject}", details: [${details}]`
      return new ConfluentError(409, message)
    }
  }
}

/** Of a removal that did not happen. */
export function notRemoved(
  subject: string,
  version: number | null,
  outcome: Exclude<RemoveSchemaOutcome, { outcome: 'removed' }>,
): ConfluentError {
  const what = version === null ? `Subject '${subject}'` : `Subject '${subject}' Version ${version}`
  switch (outcome.outcome) {
    case 'missing':
      return version === null ? subjectNotFound(subject) : versionNotFound(version)
    case 'deleted-already': {
      const message = `${what} was soft deleted.Set permanent=true to delete permanently`
      return new ConfluentError(version === null ? 40404 : 40406, message)
    }
    case 'not-deleted-softly': {
      const message = `${what} was not deleted first before being permanently deleted`
      return new ConfluentError(version === null ? 40405 : 40407, message)
    }
    case 'bound': {
      const more = outcome.count > outcome.to.length ? ` and ${outcome.count - outcome.to.length} more` : ''
      return new ConfluentError(42206, `${what} is bound to topics: ${outcome.to.join(', ')}${more} (pico.schema)`)
    }
    case 'referenced': {
      const by = outcome.by.map((importer) => `${importer.name}:${importer.version}`).join(', ')
      return new ConfluentError(42206, `One or more references exist to the schema: ${what} is imported by ${by}`)
    }
  }
}

/** Reasons that an answer tells. */
const reasonsMax = 20

export function lines(
  reasons: readonly { readonly path: string; readonly reason: string; readonly version?: number }[],
): string[] {
  return reasons.slice(0, reasonsMax).map(({ path, reason, version }) => {
    const where = path === '' ? '' : `${path}: `
    return `${version === undefined ? '' : `version ${version}: `}${where}${reason}`
  })
}

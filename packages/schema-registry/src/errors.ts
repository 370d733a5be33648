/**
 * Nobody knows for the moment whether records are good: their schema cannot be had, or there is no worker to ask. What was asked
 * may be asked again later; until then no record passes.
 */
export class SchemaUnavailableError extends Error {
  override readonly name = 'SchemaUnavailableError'
  readonly code = 'PICO_SCHEMA_UNAVAILABLE'

  constructor(why: string, options?: { cause: unknown }) {
    super(`schemas are unavailable: ${why}`, options)
  }
}

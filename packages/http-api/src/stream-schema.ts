import type { StreamDescription } from '@pico/streams'

export interface BoundSchema {
  /** `name:version`; null when it is bound to none. */
  readonly schema: string | null
  /** Records are held to it. */
  readonly isValidated: boolean
}

/** What a stream's settings say of its schema. */
export function boundSchemaOf(config: StreamDescription['config']): BoundSchema {
  const schema = config['pico.schema'] ?? null
  return { schema, isValidated: schema !== null && config['pico.schema.validate'] === 'true' }
}

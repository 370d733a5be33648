import type { SchemaCatalog, SchemaReference, SchemaVersion } from '@pico/metadata'
import type { SchemaKind, SchemaProblem, SchemaSource } from './schema.ts'

/** Of one schema's text. */
export const schemaTextBytesMax = 1024 * 1024
/** Of a schema with all that it refers to. */
export const schemaSourceBytesMax = 4 * 1024 * 1024
/** Schemas that one refers to, directly or not. */
export const schemaReferencesMax = 200

export type ResolvedSchema =
  | { readonly outcome: 'resolved'; readonly source: SchemaSource }
  | { readonly outcome: 'unknown-reference'; readonly reference: SchemaReference }
  | { readonly outcome: 'invalid'; readonly problems: readonly SchemaProblem[] }
  | { readonly outcome: 'too-large'; readonly reason: string }

interface Referring {
  readonly kind: SchemaKind
  readonly text: string
  readonly references: readonly SchemaReference[]
}

/**
 * A schema with everything that it refers to. A version refers to versions that were there before it, so there are no circles; how far it
 * goes is bounded all the same.
 * @param deleted whether versions that are deleted softly count as there: they do for a schema that is there already.
 */
export async function resolveReferences(
  catalog: Pick<SchemaCatalog, 'get'>,
  schema: Referring,
  deleted: boolean,
): Promise<ResolvedSchema> {
  const resolving = new Resolving(catalog, schema.kind, deleted)
  const refusal = (await resolving.visit(schema.references)) ?? resolving.tooLarge(schema.text)
  if (refusal !== null) return refusal
  return { outcome: 'resolved', source: { kind: schema.kind, text: schema.text, references: resolving.resolved } }
}

type Refusal = Exclude<ResolvedSchema, { outcome: 'resolved' }>

class Resolving {
  readonly resolved: { importName: string; text: string }[] = []
  readonly #catalog: Pick<SchemaCatalog, 'get'>
  readonly #kind: SchemaKind
  readonly #deleted: boolean
  /** `name:version` by import name: in one compilation a name means one thing. */
  readonly #imported = new Map<string, string>()
  readonly #versions = new Map<string, SchemaVersion | null>()
  #bytes = 0

  constructor(catalog: Pick<SchemaCatalog, 'get'>, kind: SchemaKind, deleted: boolean) {
    this.#catalog = catalog
    this.#kind = kind
    this.#deleted = deleted
  }

  async visit(references: readonly SchemaReference[]): Promise<Refusal | null> {
    for (const reference of references) {
      const refusal = await this.#visitOne(reference)
      if (refusal !== null) return refusal
    }
    return null
  }

  async #visitOne(reference: SchemaReference): Promise<Refusal | null> {
    const { importName } = reference
    const key = `${reference.name}:${reference.version}`
    const imported = this.#imported.get(importName)
    if (imported === key) return null
    if (imported !== undefined) {
      const reason = `${JSON.stringify(importName)} stands for both ${imported} and ${key} among what is referred to`
      return { outcome: 'invalid', problems: [{ path: '', reason }] }
    }
    this.#imported.set(importName, key)
    if (this.#imported.size > schemaReferencesMax) {
      return { outcome: 'too-large', reason: `it refers to more than ${schemaReferencesMax} schemas` }
    }
    const found = await this.#get(reference, key)
    if (found === null) return { outcome: 'unknown-reference', reference }
    if (found.kind !== this.#kind) {
      const reason = `${key}, which it refers to, is of kind ${found.kind}, not ${this.#kind}`
      return { outcome: 'invalid', problems: [{ path: '', reason }] }
    }
    this.#bytes += Buffer.byteLength(found.text)
    const refusal = this.tooLarge('') ?? (await this.visit(found.references))
    if (refusal === null) this.resolved.push({ importName, text: found.text })
    return refusal
  }

  tooLarge(text: string): Refusal | null {
    if (this.#bytes + Buffer.byteLength(text) <= schemaSourceBytesMax) return null
    return { outcome: 'too-large', reason: `with all it refers to it has more than ${schemaSourceBytesMax} bytes` }
  }

  /** What is deleted is offered to nobody new, but what refers to it keeps it. */
  async #get({ name, version }: SchemaReference, key: string): Promise<SchemaVersion | null> {
    let found = this.#versions.get(key)
    if (found === undefined) {
      found = await this.#catalog.get(name, version)
      this.#versions.set(key, found)
    }
    return found?.isDeleted === true && !this.#deleted ? null : found
  }
}

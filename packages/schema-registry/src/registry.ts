import { createHash } from 'node:crypto'
import type { RemoveSchemaOutcome, SchemaCatalog, SchemaRemoval, SchemaSummary, SchemaVersion } from '@pico/metadata'
import { SchemaUnavailableError } from './errors.ts'
import type {
  CheckOutcome,
  DraftRefusal,
  Incompatible,
  PutOutcome,
  RegisteredSchema,
  SchemaDraft,
} from './registry-answers.ts'
import { type Incompatibility, incompatibilitiesWith } from './registry-compatibility.ts'
import { BoundedLoads } from './registry-loads.ts'
import { parseSchemaVersion, schemaNameProblem } from './registry-names.ts'
import {
  type CompatibilityPolicy,
  defaultCompatibilityPolicy,
  demandsOf,
  isCompatibilityPolicy,
} from './registry-policies.ts'
import { resolveReferences, schemaTextBytesMax } from './registry-references.ts'
import { type SchemaBinding, type SchemaJudge, type SchemaKind, type SchemaSource, schemaKinds } from './schema.ts'
import type { LoadedSchema, SchemaWorkers } from './workers/schema-workers.ts'
import type { ProtoDescriptor } from './workers/work-messages.ts'

export interface SchemaRegistryParts {
  readonly catalog: SchemaCatalog
  /** Called once, when there is something for them to do: a registry that nobody uses has none. */
  readonly startWorkers: () => SchemaWorkers
  readonly nowMs: () => number
}

export interface SchemaRegistrySettings {
  /** Of schemas that records are judged by, kept in memory. */
  readonly loadedBytesMax: number
}

export const defaultSchemaRegistrySettings: SchemaRegistrySettings = { loadedBytesMax: 64 * 1024 * 1024 }

/** A page of a listing; `deleted`: with what is deleted softly. */
export interface SchemaPage {
  readonly prefix: string
  readonly after: string | null
  readonly limit: number
  readonly deleted: boolean
}

/**
 * Named, versioned schemas, and records held to them. Everything but judging reads the database, so that what one node registers is
 * known on every node at once; what records are judged by never changes, and is kept.
 * @throws MetadataUnavailableError from all but `judgeBatch` and `judgeValues`, which throw SchemaUnavailableError
 */
export interface SchemaRegistry extends SchemaJudge {
  /** Registers a version of a name, if its policy allows. A policy that is given is then the name's, and counts already. */
  put(name: string, draft: SchemaDraft, policy?: CompatibilityPolicy): Promise<PutOutcome>
  /** What `put` would come to, or whether the draft and that version alone get along. */
  check(name: string, draft: SchemaDraft, against?: number | 'newest'): Promise<CheckOutcome>
  /** The version of that name which means the same; also one that is deleted softly, where so wanted. */
  lookUp(name: string, draft: SchemaDraft, deleted: boolean): Promise<RegisteredSchema | DraftRefusal | null>
  /** 'newest' is the newest that is not deleted; a number finds also what is deleted softly. */
  get(name: string, version: number | 'newest'): Promise<RegisteredSchema | null>
  bySchemaId(schemaId: number): Promise<RegisteredSchema | null>
  withSchemaId(
    schemaId: number,
    page: { readonly limit: number; readonly deleted: boolean },
  ): Promise<RegisteredSchema[]>
  versions(
    name: string,
    page: { readonly after: number; readonly limit: number; readonly deleted: boolean },
  ): Promise<RegisteredSchema[]>
  referencedBy(name: string, version: number, limit: number): Promise<RegisteredSchema[]>
  list(page: SchemaPage): Promise<SchemaSummary[]>
  remove(name: string, version: number | null, removal: SchemaRemoval): Promise<RemoveSchemaOutcome>
  /** A version of Protobuf as serialized file descriptor in base64, or why it cannot be given as one. */
  descriptorOf(schema: RegisteredSchema): Promise<ProtoDescriptor>
  /** The `.proto` file of such a descriptor; null where the text is none. */
  protoText(text: string): Promise<string | null>
  /** A name's own, if it has one, and the one in force for names without. */
  policies(name: string): Promise<{ readonly own: CompatibilityPolicy | null; readonly common: CompatibilityPolicy }>
  /** Of a name, or the common one (null). With null as the policy: back to the common one, or to the default. */
  setPolicy(name: string | null, policy: CompatibilityPolicy | null): Promise<void>
  /** `orders` -> `orders:3`, the newest; `orders:2` -> itself. Null where there is no such version, or it is deleted. */
  pin(value: string): Promise<string | null>
  close(): Promise<void>
}

export function openSchemaRegistry(
  parts: SchemaRegistryParts,
  settings: Partial<SchemaRegistrySettings> = {},
): SchemaRegistry {
  return new Registry(parts, { ...defaultSchemaRegistrySettings, ...settings })
}

/** Others who register versions of the same name at the same time: past that many, it is no race any more. */
const racesMax = 50

/** Versions of a name read at a time. */
const versionsAtATime = 20

class Registry implements SchemaRegistry {
  readonly #catalog: SchemaCatalog
  readonly #startWorkers: () => SchemaWorkers
  readonly #nowMs: () => number
  readonly #loads: BoundedLoads<LoadedSchema>
  readonly #descriptors: BoundedLoads<ProtoDescriptor>
  #workers: SchemaWorkers | null = null

  constructor({ catalog, startWorkers, nowMs }: SchemaRegistryParts, { loadedBytesMax }: SchemaRegistrySettings) {
    this.#catalog = catalog
    this.#startWorkers = startWorkers
    this.#nowMs = nowMs
    this.#loads = new BoundedLoads(loadedBytesMax, sourceBytes)
    this.#descriptors = new BoundedLoads(loadedBytesMax / 4, (one) => 2 * JSON.stringify(one).length)
  }

  async put(name: string, draft: SchemaDraft, policy?: CompatibilityPolicy): Promise<PutOutcome> {
    const compiled = await this.#compile(name, draft)
    if (compiled.outcome !== 'compiled') return compiled
    const { source, fingerprint } = compiled
    const version = { name, ...draft, fingerprint, ...(policy === undefined ? {} : { policy }) }
    for (let races = 0; races < racesMax; races++) {
      const newest = await this.#catalog.newest(name)
      const known = newest === null ? null : await this.#catalog.byFingerprint(name, fingerprint)
      // What is registered already need not be compatible once more: it was asked for before.
      if (known === null || known.isDeleted) {
        const refusal = await this.#mayFollow(name, source, newest, policy ?? (await this.#policyOf(name)))
        if (refusal !== null) return refusal
      }
      const put = await this.#catalog.put(version, newest?.version ?? null, this.#nowMs())
      if (put.outcome === 'unknown-reference') return put
      if (put.outcome !== 'newest-changed') {
        return { outcome: 'registered', isNew: put.outcome === 'added', schema: registered(put.schema) }
      }
    }
    throw new SchemaUnavailableError(`too many versions of ${name} are being registered at once`)
  }

  async check(name: string, draft: SchemaDraft, against?: number | 'newest'): Promise<CheckOutcome> {
    const compiled = await this.#compile(name, draft)
    if (compiled.outcome !== 'compiled') return compiled
    const { source } = compiled
    const policy = await this.#policyOf(name)
    const newest = await this.get(name, against ?? 'newest')
    if (against === undefined) {
      return (await this.#mayFollow(name, source, newest, policy)) ?? { outcome: 'compatible', policy }
    }
    if (newest === null || newest.isDeleted) return { outcome: 'missing' }
    const problems = await this.#incompatibilities(policy, source, newest)
    return problems.length > 0 ? { outcome: 'incompatible', policy, problems } : { outcome: 'compatible', policy }
  }

  async lookUp(name: string, draft: SchemaDraft, deleted: boolean): Promise<RegisteredSchema | DraftRefusal | null> {
    const compiled = await this.#compile(name, draft, true)
    if (compiled.outcome !== 'compiled') return compiled
    const found = await this.#catalog.byFingerprint(name, compiled.fingerprint)
    return found === null || (found.isDeleted && !deleted) ? null : registered(found)
  }

  async get(name: string, version: number | 'newest'): Promise<RegisteredSchema | null> {
    const found = version === 'newest' ? await this.#catalog.newest(name) : await this.#catalog.get(name, version)
    return found === null ? null : registered(found)
  }

  async bySchemaId(schemaId: number): Promise<RegisteredSchema | null> {
    const found = await this.#catalog.bySchemaId(schemaId)
    return found === null ? null : registered(found)
  }

  async withSchemaId(schemaId: number, page: { limit: number; deleted: boolean }): Promise<RegisteredSchema[]> {
    return (await this.#catalog.withSchemaId(schemaId, page)).map(registered)
  }

  async versions(name: string, page: { after: number; limit: number; deleted: boolean }): Promise<RegisteredSchema[]> {
    return (await this.#catalog.versions(name, page)).map(registered)
  }

  async referencedBy(name: string, version: number, limit: number): Promise<RegisteredSchema[]> {
    return (await this.#catalog.referencedBy(name, version, limit)).map(registered)
  }

  list(page: SchemaPage): Promise<SchemaSummary[]> {
    return this.#catalog.list(page)
  }

  remove(name: string, version: number | null, removal: SchemaRemoval): Promise<RemoveSchemaOutcome> {
    return this.#catalog.remove(name, version, removal)
  }

  descriptorOf(schema: RegisteredSchema): Promise<ProtoDescriptor> {
    return this.#descriptors.get(`${schema.name}:${schema.version}`, async () =>
      this.#workersNow().descriptor(await this.#sourceOf(schema)),
    )
  }

  async protoText(text: string): Promise<string | null> {
    // Nothing longer is a schema, and no file of one is without a space, a brace or a semicolon.
    if (text.length > schemaTextBytesMax || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null
    return this.#workersNow().protoText(text)
  }

  async policies(name: string): Promise<{ own: CompatibilityPolicy | null; common: CompatibilityPolicy }> {
    const { own, common } = await this.#catalog.policies(name)
    return { own: knownPolicy(own), common: knownPolicy(common) ?? defaultCompatibilityPolicy }
  }

  setPolicy(name: string | null, policy: CompatibilityPolicy | null): Promise<void> {
    return this.#catalog.setPolicy(name, policy)
  }

  async pin(value: string): Promise<string | null> {
    const named = parseSchemaVersion(value)
    if (named === null) return null
    const found = await this.get(named.name, named.version ?? 'newest')
    return found === null || found.isDeleted ? null : `${found.name}:${found.version}`
  }

  async judgeBatch(binding: SchemaBinding, batch: Uint8Array) {
    return this.#workersNow().judgeBatch(await this.#load(binding), binding, batch)
  }

  async judgeValues(binding: SchemaBinding, values: readonly (Uint8Array | null)[]) {
    return this.#workersNow().judgeValues(await this.#load(binding), binding, values)
  }

  async close(): Promise<void> {
    await this.#workers?.close()
  }

  #workersNow(): SchemaWorkers {
    this.#workers ??= this.#startWorkers()
    return this.#workers
  }

  /** What records are judged by. It is there also where it was deleted since: its records may be on their way still. */
  #load({ name, version }: SchemaBinding): Promise<LoadedSchema> {
    const key = `${name}:${version}`
    return this.#loads.get(key, async () => {
      try {
        const schema = await this.get(name, version)
        if (schema === null) throw new Error('there is no such version')
        return { schemaId: schema.schemaId, source: await this.#sourceOf(schema) }
      } catch (cause) {
        throw new SchemaUnavailableError(`${key} cannot be loaded (${reasonOf(cause)})`, { cause })
      }
    })
  }

  async #sourceOf(schema: RegisteredSchema): Promise<SchemaSource> {
    const resolved = await resolveReferences(this.#catalog, schema, true)
    if (resolved.outcome === 'resolved') return resolved.source
    throw new Error(`${schema.name}:${schema.version} was registered, and its references are ${resolved.outcome}`)
  }

  async #policyOf(name: string): Promise<CompatibilityPolicy> {
    const { own, common } = await this.policies(name)
    return own ?? common
  }

  async #compile(
    name: string,
    draft: SchemaDraft,
    deleted = false,
  ): Promise<DraftRefusal | { outcome: 'compiled'; source: SchemaSource; fingerprint: string }> {
    const badName = schemaNameProblem(name)
    if (badName !== null) return { outcome: 'bad-name', reason: badName }
    const { text } = draft
    if (Buffer.byteLength(text) > schemaTextBytesMax) {
      return { outcome: 'too-large', reason: `it has more than ${schemaTextBytesMax} bytes` }
    }
    if (text.includes('\0') || !text.isWellFormed()) {
      return { outcome: 'invalid', problems: [{ path: '', reason: 'it has characters that are none' }] }
    }
    const resolved = await resolveReferences(this.#catalog, draft, deleted)
    if (resolved.outcome !== 'resolved') return resolved
    const { problems, canonical } = await this.#workersNow().compile(resolved.source)
    if (problems.length > 0) return { outcome: 'invalid', problems }
    return { outcome: 'compiled', source: resolved.source, fingerprint: fingerprintOf(draft, canonical) }
  }

  /** Whether `source` may come after the newest version of a name, by its policy; null if so. */
  async #mayFollow(
    name: string,
    source: SchemaSource,
    newest: SchemaVersion | null,
    policy: CompatibilityPolicy,
  ): Promise<Incompatible | null> {
    if (newest === null || policy === 'none') return null
    const problems: Incompatibility[] = []
    if (demandsOf(policy).isTransitive) {
      for await (const old of this.#allVersions(name))
        problems.push(...(await this.#incompatibilities(policy, source, old)))
    } else {
      problems.push(...(await this.#incompatibilities(policy, source, registered(newest))))
    }
    return problems.length > 0 ? { outcome: 'incompatible', policy, problems } : null
  }

  async #incompatibilities(policy: CompatibilityPolicy, source: SchemaSource, old: RegisteredSchema) {
    const previous = { version: old.version, source: await this.#sourceOf(old) }
    return incompatibilitiesWith(this.#workersNow(), policy, source, previous)
  }

  async *#allVersions(name: string): AsyncGenerator<RegisteredSchema, void, undefined> {
    for (let after = 0; ; ) {
      const page = await this.versions(name, { after, limit: versionsAtATime, deleted: false })
      yield* page
      after = page.at(-1)?.version ?? 0
      if (page.length < versionsAtATime) return
    }
  }
}

/** References count: what they stand for is part of what the schema means. */
function fingerprintOf({ kind, references }: SchemaDraft, canonical: string): string {
  const imported = references.map(({ importName, name, version }) => `${importName}=${name}:${version}`).sort()
  return createHash('sha256')
    .update(JSON.stringify([kind, imported, canonical]))
    .digest('hex')
}

function registered(schema: SchemaVersion): RegisteredSchema {
  const { kind } = schema
  if (!isSchemaKind(kind)) throw new Error(`${schema.name}:${schema.version} is of kind ${kind}, which is unknown here`)
  return { ...schema, kind }
}

function isSchemaKind(text: string): text is SchemaKind {
  return (schemaKinds as readonly string[]).includes(text)
}

function knownPolicy(text: string | null): CompatibilityPolicy | null {
  if (text === null || isCompatibilityPolicy(text)) return text
  throw new Error(`${text} is no compatibility policy that is known here`)
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}

/** As JavaScript keeps text, at most. */
function sourceBytes({ source }: LoadedSchema): number {
  return 2 * source.references.reduce((sum, { text }) => sum + text.length, source.text.length) + 1024
}

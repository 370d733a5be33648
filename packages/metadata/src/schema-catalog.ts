/** A version of a named schema. What it says never changes, and its number and its id never mean anything else, also once it is deleted. */
export interface SchemaVersion {
  readonly name: string
  /** From 1, per name, in the order of registration. */
  readonly version: number
  /** From 1, the same for all versions, of whatever name, that have the same fingerprint. */
  readonly schemaId: number
  /** What it is written in, in its user's words. */
  readonly kind: string
  readonly text: string
  /** What the text imports, each under the name it imports it by. They are there for as long as this version is. */
  readonly references: readonly SchemaReference[]
  /** Equal for versions that mean the same. */
  readonly fingerprint: string
  readonly createdAtMs: number
  /** Softly: it is not offered any more, but who knows its number or id still finds it. */
  readonly isDeleted: boolean
}

export interface SchemaReference {
  readonly importName: string
  readonly name: string
  readonly version: number
}

export type NewSchemaVersion = Pick<SchemaVersion, 'name' | 'kind' | 'text' | 'references' | 'fingerprint'> & {
  /** Becomes the policy of the name, also where the version was known. */
  readonly policy?: string
}

export type PutSchemaOutcome =
  | { readonly outcome: 'added'; readonly schema: SchemaVersion }
  /** The name has a version that means the same: that one. */
  | { readonly outcome: 'known'; readonly schema: SchemaVersion }
  /** Somebody was faster, or deleted what the caller had checked against: check against this one, and come again. */
  | { readonly outcome: 'newest-changed'; readonly newest: number | null }
  /** There is no such version, or it is deleted. */
  | { readonly outcome: 'unknown-reference'; readonly reference: SchemaReference }

/**
 * `soft`: not offered any more, still found by whoever reads what was written with it. `final`: gone, after it was deleted softly; its number
 * and its id are not given to anything else. The policy of a name goes with its last version.
 */
export type SchemaRemoval = 'soft' | 'final'

export type RemoveSchemaOutcome =
  /** In ascending order. */
  | { readonly outcome: 'removed'; readonly versions: readonly number[] }
  | { readonly outcome: 'missing' }
  /** Softly, of a soft removal; a final one has to be preceded by a soft one. */
  | { readonly outcome: 'deleted-already' | 'not-deleted-softly' }
  /** The first few of the topics, or streams without one, whose settings name it, and how many there are. */
  | { readonly outcome: 'bound'; readonly to: readonly string[]; readonly count: number }
  /** The first few of the versions that import it, and how many there are. */
  | {
      readonly outcome: 'referenced'
      readonly by: readonly { readonly name: string; readonly version: number }[]
      readonly count: number
    }

/** A name that has versions, and the newest of them. */
export interface SchemaSummary {
  readonly name: string
  readonly version: number
  readonly schemaId: number
  readonly kind: string
  /** Null where the common one applies. */
  readonly policy: string | null
  readonly isDeleted: boolean
}

/** Named schemas. Policies are what may follow what, in their user's words; whether it does, the caller judges. */
export interface SchemaCatalog {
  /**
   * Adds a version, unless one that means the same is there, or the newest one is not `checkedAgainst` (null: there was none) any more.
   * May be repeated.
   */
  put(schema: NewSchemaVersion, checkedAgainst: number | null, nowMs: number): Promise<PutSchemaOutcome>
  /** The newest version that is not deleted. */
  newest(name: string): Promise<SchemaVersion | null>
  /** This and the following two also find what is deleted softly. */
  get(name: string, version: number): Promise<SchemaVersion | null>
  /** Any of those that have the id; one that is not deleted, if there is. */
  bySchemaId(schemaId: number): Promise<SchemaVersion | null>
  /** The newest that means the same; one that is not deleted, if there is. */
  byFingerprint(name: string, fingerprint: string): Promise<SchemaVersion | null>
  /** The first that have the id, in byte order of names; with `deleted`, also those deleted softly. */
  withSchemaId(schemaId: number, page: { readonly limit: number; readonly deleted: boolean }): Promise<SchemaVersion[]>
  /** Those of a name after `after`, lowest first; with `deleted`, also those deleted softly. */
  versions(
    name: string,
    page: { readonly after: number; readonly limit: number; readonly deleted: boolean },
  ): Promise<SchemaVersion[]>
  /** Names that begin with `prefix` and come after `after`, in byte order; with `deleted`, also those whose versions all are, softly. */
  list(page: {
    readonly prefix: string
    readonly after: string | null
    readonly limit: number
    readonly deleted: boolean
  }): Promise<SchemaSummary[]>
  /** Versions that import that one and are not deleted, first few. */
  referencedBy(name: string, version: number, limit: number): Promise<SchemaVersion[]>
  /** The policy of a name, and the common one; null where none was set. */
  policies(name: string): Promise<{ readonly own: string | null; readonly common: string | null }>
  /** Of a name, or the common one (null). With null as the policy, none is set any more. */
  setPolicy(name: string | null, policy: string | null): Promise<void>
  /**
   * Removes a version, or all that a name has (null): all of them or none. Refused while a stream is bound to one of them (its setting
   * `pico.schema`), or a version that stays imports one: for a soft removal, one that is not deleted.
   */
  remove(name: string, version: number | null, removal: SchemaRemoval): Promise<RemoveSchemaOutcome>
}

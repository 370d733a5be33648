import type { SchemaReference, SchemaVersion } from '@pico/metadata'
import type { Incompatibility } from './registry-compatibility.ts'
import type { CompatibilityPolicy } from './registry-policies.ts'
import type { SchemaKind, SchemaProblem } from './schema.ts'

/** What somebody wants to register under a name. */
export interface SchemaDraft {
  readonly kind: SchemaKind
  readonly text: string
  readonly references: readonly SchemaReference[]
}

/** A version as it was registered. */
export interface RegisteredSchema extends SchemaVersion {
  readonly kind: SchemaKind
}

/** Why a draft is none that could be registered under any name. */
export type DraftRefusal =
  | { readonly outcome: 'bad-name'; readonly reason: string }
  | { readonly outcome: 'too-large'; readonly reason: string }
  | { readonly outcome: 'invalid'; readonly problems: readonly SchemaProblem[] }
  | { readonly outcome: 'unknown-reference'; readonly reference: SchemaReference }

export interface Incompatible {
  readonly outcome: 'incompatible'
  readonly policy: CompatibilityPolicy
  readonly problems: readonly Incompatibility[]
}

export type PutOutcome =
  | {
      readonly outcome: 'registered'
      /** Not when the name had a version that means the same: that is the one. */
      readonly isNew: boolean
      readonly schema: RegisteredSchema
    }
  | DraftRefusal
  | Incompatible

export type CheckOutcome =
  | { readonly outcome: 'compatible'; readonly policy: CompatibilityPolicy }
  /** Of the version that it was to be checked against. */
  | { readonly outcome: 'missing' }
  | DraftRefusal
  | Incompatible

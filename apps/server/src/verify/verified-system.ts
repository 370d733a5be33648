import type { Metadata } from '@pico/metadata'
import type { ObjectStore } from '@pico/storage'

/** What is verified: a database, and where its objects are. */
export interface VerifiedSystem {
  readonly metadata: Pick<Metadata, 'audit' | 'log' | 'nodes' | 'streams'>
  readonly places: readonly Place[]
}

/** A store, and which keys are in it; every key is in one place. */
export interface Place {
  /** For people. */
  readonly shown: string
  readonly store: ObjectStore
  holds(key: string): boolean
}

export interface VerifySettings {
  /** Read every byte that is needed, too. */
  readonly deep: boolean
  readonly boundMs: number
  readonly graceMs: number
  /** As many findings are told; then it ends. */
  readonly findingsMax: number
  readonly nowMs: () => number
  readonly signal: AbortSignal
}

export interface VerifyCounts {
  streams: number
  extents: number
  /** Objects that extents or the write-ahead log need. */
  referencedObjects: number
  doomedObjects: number
  announcedUploads: number
  storedObjects: number
  storedBytes: number
  /** With `deep`. */
  verifiedBytes: number
}

/** Rows asked for at a time. */
export const pageSize = 1000

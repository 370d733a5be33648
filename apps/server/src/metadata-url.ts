import { resolve } from 'node:path'
import { UsageError } from './exit-errors.ts'

/** Where the metadata is. */
export interface SqliteUrl {
  readonly kind: 'sqlite'
  /** A file, or `:memory:`. */
  readonly path: string
}

/** `sqlite:./data/meta.db`, `sqlite::memory:`. @throws UsageError naming --meta-url */
export function parseMetadataUrl(text: string): SqliteUrl {
  if (/^postgres(ql)?:/.test(text))
    throw new UsageError('--meta-url: postgres:// is not available yet in this version; use sqlite:')
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1]
  if (path === undefined)
    throw new UsageError(`--meta-url: ${JSON.stringify(text)} is not sqlite:<file> or sqlite::memory:`)
  return { kind: 'sqlite', path: path === ':memory:' ? path : resolve(path) }
}

import { resolve } from 'node:path'
import { UsageError } from './exit-errors.ts'

/** Metadata of one process, in a file. */
export interface SqliteUrl {
  readonly kind: 'sqlite'
  /** A file, or `:memory:`. */
  readonly path: string
}

/** Metadata that any number of nodes share. */
export interface PostgresUrl {
  readonly kind: 'postgres'
  /** With the password in it: not to be shown to anybody. */
  readonly url: string
}

export type MetadataUrl = SqliteUrl | PostgresUrl

/** `sqlite:./data/meta.db`, `sqlite::memory:`, `postgres://user:password@host:port/database`. @throws UsageError naming --meta-url */
export function parseMetadataUrl(text: string): MetadataUrl {
  if (/^postgres(ql)?:/.test(text)) return parsePostgresUrl(text)
  const path = /^sqlite:(?:\/\/)?(.+)$/.exec(text)?.[1]
  if (path === undefined)
    throw new UsageError(
      `--meta-url: ${JSON.stringify(text)} is not sqlite:<file>, sqlite::memory: or postgres://<user>@<host>/<database>`,
    )
  return { kind: 'sqlite', path: path === ':memory:' ? path : resolve(path) }
}

function parsePostgresUrl(text: string): PostgresUrl {
  // The text itself is not repeated: there may be a password in it.
  if (!URL.canParse(text) || !/^\/[^/]+$/.test(new URL(text).pathname))
    throw new UsageError(
      '--meta-url: a Postgres database is named postgres://<user>:<password>@<host>:<port>/<database>',
    )
  return { kind: 'postgres', url: text }
}

/** As it may be shown. */
export function shownDatabase(metadata: MetadataUrl): string {
  if (metadata.kind === 'sqlite') return metadata.path
  const { host, pathname } = new URL(metadata.url)
  return `postgres://${host}${pathname}`
}

import { DatabaseLockedError, MetadataUnavailableError } from '@pico/metadata'
import { StorageError } from '@pico/storage'
import { StartupError } from './exit-errors.ts'
import { formatHostPort, type HostPort } from './host-port.ts'
import { shownDatabase } from './metadata-url.ts'
import type { ServerConfig } from './serve-config.ts'
import { shownPlace } from './shown-place.ts'

/** What is being opened: it decides which flag an operator has to look at. */
type Opening = 'storage' | 'wal' | 'metadata' | 'log'

/** Runs a step of the start. What an operator can mend becomes one line that names the flag; a bug stays what it is. */
export async function explained<T>(opening: Opening, config: ServerConfig, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (error instanceof StartupError) throw error
    const problem = problemOf(opening, config, error)
    throw problem === null ? error : new StartupError(problem, { cause: error })
  }
}

/** Begins to listen. What an operator can mend becomes one line that names the flag. */
export async function listening<T>(flag: string, where: HostPort, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen()
  } catch (error) {
    const code = systemCode(error)
    if (code === null) throw error
    throw new StartupError(`cannot listen on ${formatHostPort(where)} (--${flag}): ${meaningOf(code)}`, {
      cause: error,
    })
  }
}

function problemOf(opening: Opening, config: ServerConfig, error: unknown): string | null {
  const code = systemCode(error)
  switch (opening) {
    case 'storage':
    case 'wal':
      if (error instanceof StorageError && error.code === 'PICO_STORAGE_PROBE_FAILED')
        return `${error.message} (--${opening})`
      return code === null ? null : `cannot use ${shownPlace(config[opening])} (--${opening}): ${meaningOf(code)}`
    case 'metadata':
      if (error instanceof DatabaseLockedError) {
        return `the database ${error.path} (--meta-url) is in use by another process: one process serves one database`
      }
      if (error instanceof MetadataUnavailableError) {
        const cause = code === null ? messageOf(error.cause) : meaningOf(code)
        return `cannot use the database ${shownDatabase(config.metadata)} (--meta-url): ${cause}`
      }
      return code === null
        ? null
        : `cannot use the database ${shownDatabase(config.metadata)} (--meta-url): ${meaningOf(code)}`
    case 'log':
      if (error instanceof StorageError) return `cannot read back ${shownPlace(config.wal)} (--wal): ${error.message}`
      if (error instanceof MetadataUnavailableError)
        return `cannot use the database ${shownDatabase(config.metadata)} (--meta-url): ${messageOf(error.cause)}`
      return code === null ? null : `cannot use ${shownPlace(config.wal)} (--wal): ${meaningOf(code)}`
  }
}

const meanings: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'the name is unknown',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'it is a file, not a folder',
  ENOSPC: 'the disk is full',
  EMFILE: 'too many open files',
}

function meaningOf(code: string): string {
  return meanings[code] ?? code
}

/** The system's word for what failed (`EADDRINUSE`), of the error or of what caused it. */
function systemCode(error: unknown): string | null {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^E[A-Z0-9]+$/.test(at.code)) return at.code
  }
  return null
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

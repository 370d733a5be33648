type SqliteModule = typeof import('node:sqlite')

/**
 * Loads `node:sqlite`. Node versions in which the module is not yet stable print an ExperimentalWarning when it is first loaded;
 * that one warning is kept from the user's terminal, every other goes through. `getBuiltinModule` also survives bundlers that strip
 * the `node:` prefix, without which this module does not exist.
 */
export function loadSqlite(): SqliteModule {
  const emitWarning = process.emitWarning
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    const text = typeof warning === 'string' ? warning : warning.message
    if (!text.startsWith('SQLite is an experimental feature')) emitWarning.call(process, warning, ...rest)
  }) as typeof process.emitWarning
  try {
    return process.getBuiltinModule('node:sqlite')
  } finally {
    process.emitWarning = emitWarning
  }
}

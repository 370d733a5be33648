import { afterEach, describe } from 'vitest'
import { metadataConformance } from '../src/conformance.ts'
import type { Metadata } from '../src/metadata.ts'
import { openSqliteMetadata } from '../src/sqlite.ts'

describe('SQLite metadata in memory', () => {
  const opened: Metadata[] = []
  afterEach(async () => {
    for (const metadata of opened.splice(0)) await metadata.close()
  })

  metadataConformance(async (settings) => {
    // A turn of the event loop before every statement: whoever could see half a transaction would.
    const metadata = await openSqliteMetadata({ path: ':memory:', maxBlockMs: 0, ...settings })
    opened.push(metadata)
    return metadata
  })
})

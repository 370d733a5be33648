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
    const metadata = await openSqliteMetadata({ path: ':memory:', ...settings })
    opened.push(metadata)
    return metadata
  })
})

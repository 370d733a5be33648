import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SchemaSource } from '../src/schema.ts'

export interface SuiteGroup {
  /** The file and the group's own words. */
  readonly name: string
  readonly source: SchemaSource
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[]
}

/**
 * The required cases of the official JSON-Schema-Test-Suite, which has `tests` and `remotes` in `folder`: each group's schema with
 * what the suite says is to be found at http://localhost:1234 as references, named by their URIs.
 */
export function suiteGroups(folder: string, draft: 'draft7' | 'draft2020-12'): SuiteGroup[] {
  const remotes = remotesOf(join(folder, 'remotes'), draft)
  return readdirSync(join(folder, 'tests', draft))
    .filter((file) => file.endsWith('.json'))
    .flatMap((file) => {
      const groups = JSON.parse(readFileSync(join(folder, 'tests', draft, file), 'utf8')) as readonly {
        readonly description: string
        readonly schema: unknown
        readonly tests: SuiteGroup['tests']
      }[]
      return groups.map(({ description, schema, tests }) => {
        const text = JSON.stringify(schema)
        const references = text.includes('localhost:1234') ? remotes : []
        return { name: `${draft}/${file}: ${description}`, source: { kind: 'json' as const, text, references }, tests }
      })
    })
}

/** Those of the other drafts are in folders that are called after them. */
function remotesOf(folder: string, draft: string): SchemaSource['references'] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json') && (path.startsWith(`${draft}/`) || !path.startsWith('draft')))
    .map((path) => ({ importName: `http://localhost:1234/${path}`, text: readFileSync(join(folder, path), 'utf8') }))
}

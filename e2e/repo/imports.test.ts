import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')

/** Who may import whom: imports point down this table. A driver (`@pico/x/y`) is for the composition root and for tests. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  'packages/binary': [],
  'packages/kafka-codec': ['@pico/binary'],
  'packages/record-batch': ['@pico/binary'],
  'packages/storage': ['@pico/binary'],
  'packages/metadata': [],
  'packages/log': ['@pico/binary', '@pico/storage', '@pico/metadata'],
  'packages/streams': ['@pico/log', '@pico/metadata', '@pico/record-batch', '@pico/binary'],
  'packages/group-coordinator': [],
  'packages/kafka-api': [
    '@pico/binary',
    '@pico/kafka-codec',
    '@pico/record-batch',
    '@pico/streams',
    '@pico/group-coordinator',
    '@pico/schema-registry',
  ],
  'packages/schema-registry': ['@pico/metadata', '@pico/record-batch'],
  'packages/http-contract': [],
  'packages/http-api': [
    '@pico/http-contract',
    '@pico/record-batch',
    '@pico/streams',
    '@pico/group-coordinator',
    '@pico/schema-registry',
  ],
  'packages/client': ['@pico/http-contract'],
  'apps/server': ['*'],
  e2e: ['*'],
}

interface SourceFile {
  readonly path: string
  readonly text: string
  readonly imports: readonly string[]
}

function sourcesOf(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/\/(node_modules|dist)\//.test(path))
    .map((path) => {
      const text = readFileSync(path, 'utf8')
      const statements = text.matchAll(
        /^(?:import|export)\b[^'"`;]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
      )
      const imports = [...statements].map((match) => match[1] ?? match[2] ?? match[3] ?? '')
      return { path: relative(root, path), text, imports }
    })
}

const folders = [
  ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}`),
  ...readdirSync(join(root, 'apps')).map((name) => `apps/${name}`),
]

test('every package and app has a row in the import table', () => {
  expect(folders.filter((folder) => !(folder in mayImport))).toEqual([])
})

describe.each(folders)('%s', (folder) => {
  const allowed = mayImport[folder] ?? []
  const isApp = folder.startsWith('apps/')
  const sources = sourcesOf(`${folder}/src`)

  test('imports only what the table allows, and no driver', () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter((specifier) => specifier.startsWith('@pico/'))
        .filter((specifier) => !isApp && !allowed.includes(specifier))
        .map((specifier) => `${path} imports ${specifier}`),
    )
    expect(wrong).toEqual([])
  })

  test('reads no environment variable', () => {
    if (isApp) return
    const wrong = sources.filter(({ text }) => /\bprocess\.(env|argv)\b/.test(text)).map(({ path }) => path)
    expect(wrong).toEqual([])
  })

  test('declares what it imports, and references what it declares', () => {
    const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
      peerDependencies?: Record<string, string>
    }
    const declared = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
    const external = sources.flatMap(({ imports }) =>
      imports.filter((specifier) => !specifier.startsWith('.') && !specifier.startsWith('node:')),
    )
    const undeclared = new Set(external.map(packageOf).filter((name) => !declared.has(name)))
    expect([...undeclared]).toEqual([])

    const config = JSON.parse(readFileSync(join(root, folder, 'tsconfig.json'), 'utf8')) as {
      references?: { path: string }[]
    }
    const referenced = (config.references ?? []).map(({ path }) => `@pico/${path.split('/').at(-1)}`).sort()
    expect(referenced).toEqual([...declared].filter((name) => name.startsWith('@pico/')).sort())
  })

  test('has no file or folder named for nothing in particular', () => {
    const vague = sources.filter(({ path }) => /\b(utils?|helpers?|common|types|misc)(\.ts|\/)/.test(path))
    expect(vague.map(({ path }) => path)).toEqual([])
  })
})

function packageOf(specifier: string): string {
  const [first = '', second = ''] = specifier.split('/')
  return first.startsWith('@') ? `${first}/${second}` : first
}

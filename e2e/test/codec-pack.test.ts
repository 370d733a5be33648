import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/**
 * What somebody gets who installs the codec: built, packed by pnpm, installed by npm in a folder that knows nothing of
 * this workspace, and used by plain Node.
 */
const root = join(import.meta.dirname, '../..')
const packages = ['binary', 'kafka-codec']

let folder: string
let readme: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'codec-pack-'))
  readme = await readFile(join(root, 'packages/kafka-codec/README.md'), 'utf8')
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const pnpm = (manifest as { packageManager: string }).packageManager
  for (const name of packages) {
    const cwd = join(root, 'packages', name)
    await run('npx', ['-y', pnpm, 'run', 'build'], cwd)
    await run('npx', ['-y', pnpm, 'pack', '--pack-destination', folder], cwd)
  }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'stranger', private: true, type: 'module' }))
  const { version } = JSON.parse(await readFile(join(root, 'packages/kafka-codec/package.json'), 'utf8')) as {
    version: string
  }
  await run('npm', ['install', '--no-audit', '--no-fund', ...packages.map((name) => `./pico-${name}-${version}.tgz`)])
}, 300_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

describe('the codec, packed and installed elsewhere', () => {
  test('runs the example of its README', async () => {
    await writeFile(join(folder, 'example.js'), block('ts'))
    expect(await run('node', ['example.js'])).toBe(block('text'))
  })

  test('brings declarations that a strict TypeScript project accepts', async () => {
    const example = `${block('ts')}
import { produce, type ProduceRequest } from '@pico/kafka-codec'
const request: ProduceRequest = produce.request(9).decode(new Uint8Array(0))
const records: Uint8Array | null | undefined = request.topicData[0]?.partitionData[0]?.records
// @ts-expect-error: a request has no such field.
console.log(records, request.topics)
`
    await writeFile(join(folder, 'example.ts'), example)
    const options = [
      '--noEmit',
      '--strict',
      '--exactOptionalPropertyTypes',
      '--target',
      'es2024',
      '--module',
      'nodenext',
    ]
    const nodeTypes = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
    await run('tsc', [...options, ...nodeTypes, 'example.ts'])
  })

  test('ships no sources, no tests and no way back into the workspace', async () => {
    const manifest = await readFile(join(folder, 'node_modules/@pico/kafka-codec/package.json'), 'utf8')
    expect(manifest).not.toContain('workspace:')
    expect(manifest).not.toContain('@pico/source')
    const files = await run('tar', ['-tzf', `pico-kafka-codec-${JSON.parse(manifest).version}.tgz`])
    expect(files).toContain('package/README.md')
    expect(files.split('\n').filter((file) => /\/(src|test|golden)\//.test(file))).toEqual([])
  })
})

function block(language: string): string {
  const text = readme.split(`\`\`\`${language}\n`)[1]?.split('```')[0]
  if (text === undefined) throw new Error(`the README has no ${language} block`)
  return text
}

async function run(command: string, args: readonly string[], cwd = folder): Promise<string> {
  // The Node that runs this test, and the compiler of this repository.
  const path = [dirname(process.execPath), join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter)
  const { stdout } = await promisify(execFile)(command, args, { cwd, env: { ...process.env, PATH: path } })
  return stdout
}

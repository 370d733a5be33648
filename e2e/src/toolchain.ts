import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './child-process.ts'

/**
 * What the end-to-end tests need beyond Node, and how they get it.
 * Jars and Python packages are fetched once into `e2e/.cache`; a compiler, Maven, Python and kcat must be there.
 * A missing tool is an error in CI; elsewhere the tests that need it are skipped and say why.
 */
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const cache = join(root, '.cache')

export interface JavaTools {
  /** Kafka 4.4 broker, tools, client, Streams and Connect, and our own classes of `e2e/java/src`. */
  readonly classpath: string
}

export const javaTools = once(async (): Promise<JavaTools> => {
  const home = join(cache, 'java')
  const pom = join(root, 'java/pom.xml')
  const sources = globSync('java/src/*.java', { cwd: root }).map((name) => join(root, name))
  await need('javac', ['-version'], 'a JDK, 17 or later (Debian: apt-get install openjdk-17-jdk-headless)')
  await provide(join(home, 'lib'), [pom], (lib) => copyJars(pom, lib))
  await provide(join(home, 'classes'), [pom, ...sources], async (classes) => {
    await run('javac', ['-d', classes, '-cp', join(home, 'lib/*'), ...sources], { timeoutMs: 120_000 })
  })
  return { classpath: `${join(home, 'classes')}:${join(home, 'lib/*')}` }
})

export interface ConnectTools extends JavaTools {
  /** What a Connect worker finds its plugins in: a folder of jars for each. */
  readonly pluginPath: string
}

/** The file connectors beside the worker. */
export const connectTools = once(async (): Promise<ConnectTools> => {
  const tools = await javaTools()
  const pom = join(root, 'java/connect-file/pom.xml')
  const pluginPath = join(cache, 'java/plugins')
  await provide(pluginPath, [pom], (plugins) => copyJars(pom, join(plugins, 'connect-file')))
  return { ...tools, pluginPath }
})

/** A Python that has confluent-kafka and aiokafka. */
export const pythonTools = once(async (): Promise<{ python: string }> => {
  const requirements = join(root, 'python/requirements.txt')
  const home = join(cache, 'python')
  const python = join(home, 'bin/python')
  await need('python3', ['--version'], 'Python 3.9 or later with venv')
  // A virtual environment holds its own path, so it is made in place and marked when whole.
  const mark = join(home, 'installed.txt')
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== readFileSync(requirements, 'utf8')) {
    rmSync(home, { recursive: true, force: true })
    await run('python3', ['-m', 'venv', home], { timeoutMs: 120_000 })
    await run(python, ['-m', 'pip', 'install', '-q', '-r', requirements], { timeoutMs: 600_000 })
    writeFileSync(mark, readFileSync(requirements))
  }
  return { python }
})

/** The official JSON-Schema-Test-Suite, a folder with `tests` and `remotes`: the source distribution of Python's jsonschema has it. */
export const jsonSchemaSuite = once(async (): Promise<{ folder: string }> => {
  const { python } = await pythonTools()
  const version = '4.26.0'
  const folder = join(cache, `json-schema-suite-${version}`)
  await provide(folder, [], async (draft) => {
    const download = ['-m', 'pip', 'download', '-q', '--no-deps', '--no-binary', 'jsonschema', `jsonschema==${version}`]
    await run(python, [...download, '-d', draft], { timeoutMs: 300_000 })
    const archive = join(draft, `jsonschema-${version}.tar.gz`)
    await run('tar', ['-xzf', archive, '-C', draft, '--strip-components=2', `jsonschema-${version}/json`])
  })
  return { folder }
})

export const kcatTool = once(async (): Promise<{ kcat: string }> => {
  await need('kcat', ['-V'], 'kcat (Debian: apt-get install kcat)')
  return { kcat: 'kcat' }
})

const goRelease = '1.26.0'

/** A Go that builds what the tests are built from. One that is older fetches a newer one, which the module proxy has as a module. */
export const goTool = once(async (): Promise<{ go: string }> => {
  await need('go', ['version'], 'Go (Debian: apt-get install golang-go)')
  const { stdout } = await run('go', ['version'])
  if (Number(/go1\.(\d+)/.exec(stdout.toString())?.[1]) >= 26) return { go: 'go' }
  const home = join(cache, `go-${goRelease}`)
  await provide(home, [], async (draft) => {
    const architecture = process.arch === 'x64' ? 'amd64' : process.arch
    const module = `golang.org/toolchain@v0.0.1-go${goRelease}.${process.platform}-${architecture}`
    const env = { GOMODCACHE: join(draft, 'modules'), GOFLAGS: '-modcacherw' }
    await run('go', ['mod', 'download', module], { cwd: draft, env, timeoutMs: 300_000 })
    cpSync(join(draft, 'modules', module), draft, { recursive: true })
    rmSync(join(draft, 'modules'), { recursive: true })
    // Modules have no files that can be executed.
    for (const program of globSync('{bin,pkg/tool/*}/*', { cwd: draft })) chmodSync(join(draft, program), 0o755)
  })
  return { go: join(home, 'bin/go') }
})

/**
 * For `describe.skipIf(await missing(javaTools))`: false when the tool is there.
 * Otherwise prints why and says true, or fails when this is CI.
 */
export async function missing(tool: () => Promise<unknown>): Promise<boolean> {
  try {
    await tool()
    return false
  } catch (error) {
    if (process.env['CI'] === 'true') throw error
    console.warn(`skipped because ${error instanceof Error ? error.message : String(error)}`)
    return true
  }
}

/** @throws Error that says what to install when the command does not run */
export async function need(command: string, args: string[], what: string): Promise<void> {
  await run(command, args, { timeoutMs: 30_000 }).catch((cause: unknown) => {
    throw new Error(`${command} does not run here; these tests need ${what}`, { cause })
  })
}

async function copyJars(pom: string, folder: string): Promise<void> {
  await need('mvn', ['-version'], 'Maven (Debian: apt-get install maven)')
  const goals = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`, '-DincludeScope=runtime']
  await run('mvn', ['-q', '-B', '-f', pom, ...goals], { timeoutMs: 600_000 })
}

/** Makes `folder` from the content of `inputs`, once; made beside it and renamed, so that a half-made one is never used. */
export async function provide(
  folder: string,
  inputs: string[],
  make: (folder: string) => Promise<void>,
): Promise<void> {
  const hash = createHash('sha256')
  for (const input of inputs) hash.update(readFileSync(input))
  const digest = hash.digest('hex')
  const mark = `${folder}.made-from`
  if (existsSync(folder) && existsSync(mark) && readFileSync(mark, 'utf8') === digest) return
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  try {
    await make(draft)
    rmSync(folder, { recursive: true, force: true })
    renameSync(draft, folder)
    writeFileSync(mark, digest)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

/** `make`, the first time that it is asked for. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => {
    made ??= make()
    return made
  }
}

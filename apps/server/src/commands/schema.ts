import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { CompatibilityName, PicoClient, SchemaKindName, SchemaReason, SchemaText } from '@pico/client'
import { PicoError } from '@pico/client'
import { compatibilityNames, schemaKindNames } from '@pico/http-contract'
import { UsageError } from '../exit-errors.ts'
import type { ClientCommand, CommandContext } from './client-command.ts'
import { CommandFailure } from './command-failure.ts'
import { picoClient } from './connection.ts'
import { wholeInput } from './input-lines.ts'
import { picoOnly } from './stream-commands.ts'

/** `pico schema …`: named schemas, and their versions. A version is written `orders:3`; `orders` alone is the newest, or all of them. */
export const schemaCommand: ClientCommand = {
  command: 'schema <action> [words..]',
  describe:
    'Named schemas: put <name> [file], check <name>[:<version>] [file], get <name>[:<version>], ls [prefix | <name>:], rm <name>[:<version>]',
  words: { action: 'put, check, get, ls or rm', words: 'A file may be -, or left out: then it is the standard input' },
  flags: {
    kind: {
      describe:
        'put, check: what the schema is written in (default: by the end of the file name: .json, .avsc, .proto)',
      choices: schemaKindNames,
    },
    reference: { describe: 'put, check: what it imports, as common.proto=common:1; with commas between several' },
    compatibility: {
      describe: 'put: what a new version has to be to those before it, from now on',
      choices: compatibilityNames,
    },
    deleted: { describe: 'get, ls: also what is deleted, but not for good', switch: true },
    permanent: { describe: 'rm: for good, so that what was written with it can no longer be read', switch: true },
    json: { describe: 'In JSON', switch: true },
  },
  async run(context) {
    const name = String(context.words['action'])
    const action = Object.hasOwn(actions, name) ? actions[name] : undefined
    if (action === undefined)
      throw new UsageError(`schema ${name}: one of ${Object.keys(actions).join(', ')} is needed`)
    const words = ((context.words['words'] ?? []) as readonly (string | number)[]).map(String)
    if (words.length < action.least || words.length > action.most)
      throw new UsageError(`usage: pico schema ${action.usage}`)
    await using client = picoClient(picoOnly(context.connection(), 'schema'), 'first')
    await action.run({ context, words, client })
  },
}

interface SchemaAction {
  readonly usage: string
  /** Words that follow. */
  readonly least: number
  readonly most: number
  run(given: SchemaGiven): Promise<void>
}

interface SchemaGiven {
  readonly context: CommandContext
  readonly words: readonly string[]
  readonly client: PicoClient
}

const actions: Readonly<Record<string, SchemaAction>> = {
  put: {
    usage: 'put <name> [file] [--kind] [--reference] [--compatibility]',
    least: 1,
    most: 2,
    async run({ context, words: [name = '', file], client }) {
      const { flags, stdout, say, signal } = context
      const compatibility = flags.text('compatibility') as CompatibilityName | undefined
      const options = { signal, ...(compatibility === undefined ? {} : { compatibility }) }
      const put = await saying(context, client.schemas.put(name, await schemaText(context, file), options))
      if (flags.isOn('json')) await stdout.writeJson(put)
      else await stdout.write(`${put.name}:${put.version}\n`)
      say(`${put.created ? 'registered' : 'there was already'} ${put.name}:${put.version}, id ${put.schema_id}`)
    },
  },
  check: {
    usage: 'check <name>[:<version>] [file] [--kind] [--reference]',
    least: 1,
    most: 2,
    async run({ context, words: [word = '', file], client }) {
      const { flags, stdout, say, signal } = context
      const { name, version } = nameAndVersion(word)
      const options = { signal, ...(version === null ? {} : { version }) }
      const check = await saying(context, client.schemas.check(name, await schemaText(context, file), options))
      if (flags.isOn('json')) await stdout.writeJson(check)
      else await stdout.write(check.reasons.map(reasonLine).join(''))
      if (!check.compatible)
        throw new CommandFailure(`it must not follow what ${word} has (${check.compatibility}); see why above`)
      say(`it may follow what ${word} has (${check.compatibility})`)
    },
  },
  get: {
    usage: 'get <name>[:<version>] [--deleted] [--json]',
    least: 1,
    most: 1,
    async run({ context, words: [word = ''], client }) {
      const { flags, stdout, say, signal } = context
      const { name, version } = nameAndVersion(word)
      const schema = await client.schemas.get(name, version, { signal, deleted: flags.isOn('deleted') })
      if (flags.isOn('json')) return stdout.writeJson(schema)
      await stdout.write(schema.schema.endsWith('\n') ? schema.schema : `${schema.schema}\n`)
      say(`${schema.name}:${schema.version}, ${schema.kind}, id ${schema.schema_id}, ${schema.compatibility}`)
    },
  },
  ls: {
    usage: 'ls [prefix | <name>:] [--deleted] [--json]',
    least: 0,
    most: 1,
    async run({ context, words: [word = ''], client }) {
      const { flags, stdout, signal } = context
      const options = { signal, deleted: flags.isOn('deleted') }
      const listed = word.endsWith(':')
        ? client.schemas.versions(word.slice(0, -1), options)
        : client.schemas.list({ ...options, prefix: word })
      for await (const one of listed) {
        const { name, version, schema_id, kind, deleted } = one
        const line = `${`${name}:${version}`.padEnd(40)} ${kind.padEnd(8)} id ${schema_id}${deleted ? ' (deleted)' : ''}`
        await stdout.write(`${flags.isOn('json') ? JSON.stringify(one) : line}\n`)
      }
    },
  },
  rm: {
    usage: 'rm <name>[:<version>] [--permanent]',
    least: 1,
    most: 1,
    async run({ context, words: [word = ''], client }) {
      const { flags, say, signal } = context
      const { name, version } = nameAndVersion(word)
      await client.schemas.delete(name, version, { signal, permanent: flags.isOn('permanent') })
      say(`deleted ${word}`)
    },
  },
}

/** `orders`, `orders:3`. @throws UsageError */
function nameAndVersion(word: string): { readonly name: string; readonly version: number | null } {
  const [, name, version] = /^([^:]+)(?::([1-9]\d{0,8}))?$/.exec(word) ?? []
  if (name === undefined) throw new UsageError(`${word} is neither <name> nor <name>:<version>`)
  return { name, version: version === undefined ? null : Number(version) }
}

const kindsByExtension: Readonly<Record<string, SchemaKindName>> = {
  '.json': 'json',
  '.avsc': 'avro',
  '.proto': 'protobuf',
}

async function schemaText(context: CommandContext, file: string | undefined): Promise<SchemaText> {
  const given = context.flags.text('kind') as SchemaKindName | undefined
  const kind = given ?? (file === undefined ? undefined : kindsByExtension[extname(file).toLowerCase()])
  if (kind === undefined) throw new UsageError(`--kind is needed: one of ${schemaKindNames.join(', ')}`)
  const references = context.flags.text('reference')?.split(',') ?? []
  return { kind, text: await textOf(context, file), references }
}

async function textOf({ signal }: CommandContext, file: string | undefined): Promise<string> {
  if (file !== undefined && file !== '-') {
    const bytes = await readFile(file, { signal }).catch((error: NodeJS.ErrnoException) => {
      signal.throwIfAborted()
      throw new CommandFailure(`cannot read ${file}: ${error.message}`)
    })
    return decoded(bytes)
  }
  const interrupted = () => process.stdin.destroy()
  signal.addEventListener('abort', interrupted, { once: true })
  try {
    return decoded(await wholeInput(process.stdin))
  } finally {
    signal.removeEventListener('abort', interrupted)
    process.stdin.destroy() // or an input that never ends would keep us
    signal.throwIfAborted()
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) throw new CommandFailure('the schema is not UTF-8')
    throw error
  }
}

/** All the reasons of a refusal, a line each; the error itself says the first. */
async function saying<T>({ flags, stdout }: CommandContext, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof PicoError && error.reasons.length > 0) {
      if (flags.isOn('json')) await stdout.writeJson({ error: error.code, reasons: error.reasons })
      else if (error.reasons.length > 1) process.stderr.write(error.reasons.map(reasonLine).join(''))
    }
    throw error
  }
}

function reasonLine({ version, path, reason }: SchemaReason): string {
  return `${version === undefined ? '' : `version ${version}: `}${path === '' ? '' : `${path}: `}${reason}\n`
}

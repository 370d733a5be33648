import { UsageError } from '../exit-errors.ts'
import type { ClientCommand, CommandContext } from './client-command.ts'
import { CommandFailure } from './command-failure.ts'
import {
  type ProfileConfig,
  profileKey,
  profileKeys,
  profilesPath,
  profileWith,
  readProfiles,
  writeProfiles,
} from './profiles.ts'

/** `pico config …`: named settings for the commands that talk to a server. */
export const configCommand: ClientCommand = {
  command: 'config <action> [words..]',
  describe: 'Keep settings under names: set <key> <value>, get <key>, ls, rm <profile> [key], use <profile>, path',
  words: { action: 'set, get, ls, rm, use or path', words: `Keys are ${profileKeys.join(', ')}` },
  flags: {
    profile: { describe: 'Which one, instead of the one in use' },
    json: { describe: 'ls: in JSON', switch: true },
  },
  local: true,
  async run(context) {
    const action = Object.hasOwn(actions, String(context.words['action']))
      ? actions[String(context.words['action'])]
      : undefined
    if (action === undefined)
      throw new UsageError(`config ${context.words['action']}: one of ${Object.keys(actions).join(', ')} is needed`)
    const words = ((context.words['words'] ?? []) as readonly (string | number)[]).map(String)
    if (words.length < action.least || words.length > action.most)
      throw new UsageError(`usage: pico config ${action.usage}`)
    const path = profilesPath(context.environment)
    await action.run({ context, words, path, config: readProfiles(path) })
  },
}

interface ConfigAction {
  readonly usage: string
  /** Words that follow. */
  readonly least: number
  readonly most: number
  run(given: ConfigGiven): Promise<void> | void
}

interface ConfigGiven {
  readonly context: CommandContext
  readonly words: readonly string[]
  readonly path: string
  readonly config: ProfileConfig
}

const actions: Readonly<Record<string, ConfigAction>> = {
  set: {
    usage: 'set <key> <value>',
    least: 2,
    most: 2,
    run({ context, words: [key = '', value = ''], path, config }) {
      const name = context.flags.text('profile') ?? config.use
      const profile = profileWith(profileOf(config, name) ?? {}, key, value)
      writeProfiles(path, { ...config, profiles: { ...config.profiles, [name]: profile } })
    },
  },
  get: {
    usage: 'get <key>',
    least: 1,
    most: 1,
    async run({ context, words: [key = ''], config }) {
      const name = context.flags.text('profile') ?? config.use
      const value = profileOf(config, name)?.[profileKey(key)]
      if (value === undefined) throw new CommandFailure(`profile ${name} has no ${key}`)
      await context.stdout.write(`${value}\n`)
    },
  },
  ls: {
    usage: 'ls',
    least: 0,
    most: 0,
    async run({ context, config }) {
      const shown = Object.entries(config.profiles).map(([name, { token, ...profile }]) => {
        return { name, in_use: name === config.use, ...profile, ...(token === undefined ? {} : { token: '(set)' }) }
      })
      if (context.flags.isOn('json')) return context.stdout.writeJson(shown)
      const lines = shown.map(({ name, in_use, ...profile }) => {
        const settings = Object.entries(profile).map(([key, value]) => `${key}=${value}`)
        return `${in_use ? '*' : ' '} ${name}  ${settings.join(' ')}`.trimEnd()
      })
      await context.stdout.write(lines.map((line) => `${line}\n`).join(''))
    },
  },
  rm: {
    usage: 'rm <profile> [key]',
    least: 1,
    most: 2,
    run({ words: [name = '', key], path, config }) {
      const profile = profileOf(config, name)
      if (profile === undefined) throw new CommandFailure(`there is no profile ${name}`)
      const { [name]: _, ...others } = config.profiles
      if (key === undefined) {
        writeProfiles(path, { use: name === config.use ? 'default' : config.use, profiles: others })
        return
      }
      const { [profileKey(key)]: __, ...left } = profile
      writeProfiles(path, { ...config, profiles: { ...others, [name]: left } })
    },
  },
  use: {
    usage: 'use <profile>',
    least: 1,
    most: 1,
    run({ words: [name = ''], path, config }) {
      if (profileOf(config, name) === undefined)
        throw new CommandFailure(`there is no profile ${name}; pico config set … --profile ${name} makes one`)
      writeProfiles(path, { ...config, use: name })
    },
  },
  path: {
    usage: 'path',
    least: 0,
    most: 0,
    run: ({ context, path }) => context.stdout.write(`${path}\n`),
  },
}

function profileOf({ profiles }: ProfileConfig, name: string) {
  return Object.hasOwn(profiles, name) ? profiles[name] : undefined
}

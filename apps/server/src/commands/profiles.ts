import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { UsageError } from '../exit-errors.ts'
import { CommandFailure } from './command-failure.ts'
import type { Environment } from './given-flags.ts'

const profileSchema = z.strictObject({
  endpoint: z
    .string()
    .regex(/^https?:\/\/./, 'is not an http: or https: URL')
    .optional(),
  protocol: z.enum(['pico', 'ds'], 'is neither pico nor ds').optional(),
  http2: z.enum(['true', 'false'], 'is neither true nor false').optional(),
  token: z.string().min(1, 'is empty').optional(),
})

const configSchema = z.strictObject({
  /** The profile that counts when none is named. */
  use: z.string().default('default'),
  profiles: z.record(z.string(), profileSchema).default({}),
})

export type Profile = z.infer<typeof profileSchema>
export type ProfileKey = keyof Profile
export type ProfileConfig = z.infer<typeof configSchema>

export const profileKeys = Object.keys(profileSchema.shape) as readonly ProfileKey[]

/** Where profiles are kept: `PICO_CONFIG`, or `pico/config.json` in the user's folder for configurations (XDG base directories 0.8). */
export function profilesPath(environment: Environment): string {
  const named = environment['PICO_CONFIG']
  if (named !== undefined && named !== '') return named
  const home = environment['XDG_CONFIG_HOME']
  const folder = home?.startsWith('/') // others are to be ignored, says the specification
    ? home
    : join(environment['HOME'] ?? homedir(), '.config')
  return join(folder, 'pico', 'config.json')
}

/** No file is no profiles. @throws CommandFailure for one that cannot be understood */
export function readProfiles(path: string): ProfileConfig {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { use: 'default', profiles: {} }
    throw new CommandFailure(`${path} cannot be read: ${error instanceof Error ? error.message : error}`)
  }
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new CommandFailure(`${path} is not JSON`)
  }
  const parsed = configSchema.safeParse(json)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new CommandFailure(`${path}: ${issue?.path.join('.') || 'it'} ${issue?.message}`)
}

/** Whole or not at all, and for the user's eyes only: it may hold tokens. */
export function writeProfiles(path: string, config: ProfileConfig): void {
  const temporary = `${path}.${randomUUID()}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(temporary, `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 })
    renameSync(temporary, path)
  } catch (error) {
    throw new CommandFailure(`${path} cannot be written: ${error instanceof Error ? error.message : error}`)
  }
}

/** @throws UsageError for a key or a value that a profile cannot have */
export function profileWith(profile: Profile, key: string, value: string): Profile {
  const parsed = profileSchema.safeParse({ ...profile, [profileKey(key)]: value })
  if (parsed.success) return parsed.data
  throw new UsageError(`${key} ${value} ${parsed.error.issues[0]?.message}`)
}

/** @throws UsageError */
export function profileKey(key: string): ProfileKey {
  const known = profileKeys.find((name) => name === key)
  if (known === undefined) throw new UsageError(`a profile has no ${key}: it has ${profileKeys.join(', ')}`)
  return known
}

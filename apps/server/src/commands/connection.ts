import { DurableStreamsClient, PicoClient } from '@pico/client'
import { UsageError } from '../exit-errors.ts'
import type { ClientFlags, Environment, GivenFlags } from './given-flags.ts'
import { type Profile, profilesPath, readProfiles } from './profiles.ts'

export const connectionFlags: ClientFlags = {
  endpoint: { describe: 'Where streams are served', default: 'http://127.0.0.1:4437' },
  protocol: { describe: 'pico, or ds for Durable Streams', choices: ['pico', 'ds'], default: 'pico' },
  http2: { describe: 'Use HTTP/2', switch: true },
  token: { describe: 'Bearer token' },
  profile: { describe: 'Named settings, see pico config' },
  'retry-sec': { describe: 'Give up when nothing has worked for so long', default: '2, and 60 once it has worked' },
}

/** Where to, and how: flags first, then variables, then the profile, then defaults. */
export interface ConnectionSettings {
  readonly endpoint: string
  readonly protocol: 'pico' | 'ds'
  readonly http2: boolean
  readonly token: string | null
  readonly retrySeconds: number | undefined
}

/** @throws UsageError, CommandFailure for profiles that cannot be read */
export function connectionSettings(flags: GivenFlags, environment: Environment): ConnectionSettings {
  const profile = chosenProfile(flags, environment)
  const endpoint = flags.text('endpoint') ?? profile.endpoint ?? 'http://127.0.0.1:4437'
  if (!/^https?:\/\/./.test(endpoint) || !URL.canParse(endpoint))
    throw new UsageError(`--endpoint ${endpoint} is not an http: or https: URL`)
  return {
    endpoint,
    protocol: (flags.text('protocol') ?? profile.protocol ?? 'pico') === 'ds' ? 'ds' : 'pico',
    http2: flags.isOn('http2') || profile.http2 === 'true',
    token: flags.text('token') ?? profile.token ?? null,
    retrySeconds: flags.wholeNumber('retry-sec'),
  }
}

function chosenProfile(flags: GivenFlags, environment: Environment): Profile {
  const named = flags.text('profile')
  const { use, profiles } = readProfiles(profilesPath(environment))
  const profile = Object.hasOwn(profiles, named ?? use) ? profiles[named ?? use] : undefined
  if (profile === undefined && named !== undefined)
    throw new UsageError(`--profile ${named}: there is none of that name (pico config ls shows which there are)`)
  return profile ?? {}
}

/** Once something has worked, patience pays: the server may be restarting. Before, a wrong address is likelier. */
export type Patience = 'first' | 'long'

export function picoClient(settings: ConnectionSettings, patience: Patience): PicoClient {
  return new PicoClient(clientSettings(settings, patience))
}

export function durableStreamsClient(settings: ConnectionSettings, patience: Patience): DurableStreamsClient {
  return new DurableStreamsClient(clientSettings(settings, patience))
}

function clientSettings({ endpoint, http2, token, retrySeconds }: ConnectionSettings, patience: Patience) {
  const giveUpAfterMs = (retrySeconds ?? (patience === 'first' ? 2 : 60)) * 1000
  return { endpoint, http2, token, retry: { giveUpAfterMs } }
}

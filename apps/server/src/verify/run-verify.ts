import { defaultLogSettings } from '@pico/log'
import { MetadataUnavailableError } from '@pico/metadata'
import { StorageError } from '@pico/storage'
import { Closers } from '../closers.ts'
import type { CommandContext } from '../commands/client-command.ts'
import { CommandFailure } from '../commands/command-failure.ts'
import type { GivenFlags } from '../commands/given-flags.ts'
import { StartupError, UsageError } from '../exit-errors.ts'
import { type ServerConfig, serverConfig } from '../serve-config.ts'
import { serveDefaults } from '../serve-flags.ts'
import type { Finding } from './finding.ts'
import { openVerified } from './open-verified.ts'
import type { VerifyCounts } from './verified-system.ts'
import { type Verdict, verify } from './verify.ts'

/** `pico admin verify`. @throws UsageError; CommandFailure when it is not proven, or could not be looked at */
export async function runVerify(context: CommandContext): Promise<void> {
  const { flags, stdout, signal } = context
  const config = configOf(flags)
  const settings = {
    deep: flags.isOn('deep'),
    boundMs: (flags.wholeNumber('bound-sec') ?? 7200) * 1000,
    graceMs: defaultLogSettings.doomedGraceMs,
    findingsMax: flags.wholeNumber('max-findings', 1) ?? 1000,
    nowMs: Date.now,
    signal,
  }
  const asJson = flags.isOn('json')
  const closers = new Closers()
  const verdict = await operational(context, async () => {
    try {
      const system = await openVerified(config, closers)
      return await verify(system, settings, (finding) =>
        asJson ? stdout.writeJson(finding) : stdout.write(`${findingLine(finding)}\n`),
      )
    } finally {
      await closers.close()
    }
  })
  const isProven = verdict.findings === 0
  if (asJson) await stdout.writeJson({ proven: isProven, ...verdict })
  else await stdout.write(`${countsLine(verdict, settings.deep)}\n`)
  if (!isProven) throw new CommandFailure(failureOf(verdict))
}

const places = ['meta-url', 'storage', 'wal'] as const

/** @throws UsageError */
function configOf(flags: GivenFlags): ServerConfig {
  const given = Object.fromEntries(places.map((name) => [name, flags.text(name)] as const).filter(([, text]) => text))
  try {
    const config = serverConfig({ ...serveDefaults(), ...given })
    if (config.metadata.kind === 'sqlite' && config.metadata.path === ':memory:') {
      throw new UsageError('--meta-url sqlite::memory: is gone with its server: there is nothing to verify')
    }
    return config
  } catch (error) {
    // What is refused at a start is wrong here as well.
    throw error instanceof StartupError ? new UsageError(error.message, { cause: error }) : error
  }
}

/** What keeps it from being done is one line, and not a bug. */
async function operational<T>({ signal }: CommandContext, task: () => Promise<T>): Promise<T> {
  try {
    return await task()
  } catch (error) {
    signal.throwIfAborted()
    const isOperational =
      error instanceof StartupError || error instanceof StorageError || error instanceof MetadataUnavailableError
    throw isOperational ? new CommandFailure(error.message, { cause: error }) : error
  }
}

function findingLine({ kind, subject, what }: Finding): string {
  return `${kind.padEnd('miscounted'.length)}  ${subject}: ${what}`
}

function countsLine({ counts }: Verdict, deep: boolean): string {
  const parts: readonly (readonly [keyof VerifyCounts, string])[] = [
    ['streams', 'streams'],
    ['extents', 'extents'],
    ['referencedObjects', 'objects needed'],
    ['doomedObjects', 'doomed'],
    ['announcedUploads', 'uploads announced'],
    ['storedObjects', 'objects in the store'],
    ['storedBytes', 'bytes'],
  ]
  const shown = parts.map(([name, text]) => `${counts[name]} ${text}`)
  return [...shown, ...(deep ? [`${counts.verifiedBytes} bytes read and verified`] : [])].join(', ')
}

function failureOf({ findings, isCutShort }: Verdict): string {
  if (isCutShort) return `more than ${findings} findings (--max-findings): there may be many more`
  return `${findings} ${findings === 1 ? 'finding' : 'findings'}: database and store do not agree`
}

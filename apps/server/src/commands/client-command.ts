import { PicoError } from '@pico/client'
import type { CommandModule } from 'yargs'
import { CommandFailure } from './command-failure.ts'
import { type ConnectionSettings, connectionFlags, connectionSettings } from './connection.ts'
import { type ClientFlags, type Environment, GivenFlags, optionOf } from './given-flags.ts'
import { BrokenPipe, Output } from './output.ts'

/** What a command works with. */
export interface CommandContext {
  /** Words of the command line, by the names that `command` gives them. */
  readonly words: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly flags: GivenFlags
  readonly environment: Environment
  readonly stdout: Output
  /** For people: nothing is said where no terminal is. */
  readonly say: (line: string) => void
  /** Aborts by SIGINT, SIGTERM, or when the output is no longer read. */
  readonly signal: AbortSignal
  /** @throws UsageError */
  connection(): ConnectionSettings
}

export interface ClientCommand {
  /** As yargs has it: `append <stream> [record..]`. */
  readonly command: string
  readonly describe: string
  readonly words?: Readonly<Record<string, string>>
  readonly flags?: ClientFlags
  /** Without the flags that say where to: it talks to no server. */
  readonly local?: true
  /** Does it. Ends early, or rejects with the signal's reason, when that aborts. @throws UsageError, PicoError, CommandFailure */
  run(context: CommandContext): Promise<void>
}

/** The flags a command knows, for who mistypes one. */
export function flagsOf(command: ClientCommand): ClientFlags {
  return { ...command.flags, ...(command.local ? {} : connectionFlags) }
}

/** A client command for yargs; its exit code goes to `ended`. */
export function clientCommand(
  command: ClientCommand,
  environment: Environment,
  ended: (exitCode: number) => void,
): CommandModule {
  const flags = flagsOf(command)
  return {
    command: command.command,
    describe: command.describe,
    builder(parser) {
      // Without it, yargs keeps the last of several words only.
      parser.parserConfiguration({ ...parserConfiguration, 'duplicate-arguments-array': true })
      for (const [name, describe] of Object.entries(command.words ?? {}))
        parser.positional(name, { describe, type: 'string' })
      for (const [name, flag] of Object.entries(flags)) parser.option(name, optionOf(name, flag))
      return parser
    },
    async handler(given) {
      ended(await runCommand(command, flags, given, environment))
    },
  }
}

const parserConfiguration = { 'boolean-negation': false, 'camel-case-expansion': false }

async function runCommand(
  command: ClientCommand,
  flags: ClientFlags,
  given: Record<string, unknown>,
  environment: Environment,
): Promise<number> {
  const stdout = new Output(process.stdout)
  const interrupt = new AbortController()
  const interrupted = (signal: NodeJS.Signals) => {
    if (interrupt.signal.aborted) process.exit(1) // twice: it shall not even finish what it is at
    interrupt.abort(new Interrupted(`${signal}`))
  }
  process.on('SIGINT', interrupted).on('SIGTERM', interrupted)
  process.stderr.on('error', () => undefined) // what is said to nobody need not be said
  const givenFlags = new GivenFlags(given, environment, flags)
  try {
    await command.run({
      words: given as CommandContext['words'],
      flags: givenFlags,
      environment,
      stdout,
      say: (line) => {
        if (process.stderr.isTTY) process.stderr.write(`${line}\n`)
      },
      signal: AbortSignal.any([interrupt.signal, stdout.broken]),
      connection: () => connectionSettings(givenFlags, environment),
    })
    return 0
  } catch (error) {
    if (error instanceof BrokenPipe) return 0
    if (error instanceof Interrupted) return 1
    if (!(error instanceof PicoError || error instanceof CommandFailure)) throw error
    process.stderr.write(`pico: ${oneLine(error)}\n`)
    return 1
  } finally {
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted)
  }
}

/** A signal asked for the end. */
export class Interrupted extends Error {
  readonly code = 'PICO_INTERRUPTED'
  override readonly name = 'Interrupted'
}

function oneLine(error: Error): string {
  const hint = error instanceof PicoError && error.code === 'unreachable' ? '; is a server running there?' : ''
  return `${error.message.replaceAll(/\s*\n\s*/g, ' ').trim()}${hint}`
}

/** The stream that a command names. */
export function streamWord({ words }: CommandContext): string {
  return String(words['stream'])
}

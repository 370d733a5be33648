import type { CommandModule } from 'yargs'
import { UsageError } from './exit-errors.ts'
import { type ServeArguments, type ServeFlag, serveFlags, variableOf } from './serve-flags.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** `pico serve`, for yargs; its exit code goes to `ended`, and `warnings` to its log. */
export function serveCommand(
  environment: Environment,
  warnings: readonly string[],
  ended: (exitCode: number) => void,
): CommandModule {
  return {
    command: 'serve',
    describe: 'Serve streams over HTTP and to Kafka clients',
    builder(command) {
      for (const [name, flag] of Object.entries<ServeFlag>(serveFlags))
        command.option(name, optionOf(name, flag, environment))
      return command
    },
    async handler(given) {
      // Loaded only here: the other commands need nothing of what serves.
      const { serve } = await import('./serve.ts')
      ended(await serve(given as ServeArguments, environment, warnings))
    },
  }
}

/** The command line first, then the variable, then the default. */
function optionOf(name: string, flag: ServeFlag, environment: Environment) {
  const variable = environment[variableOf(name)]
  const { describe, choices } = flag
  const described = `${describe} [${variableOf(name)}]`
  if (flag.switch) return { describe: described, type: 'boolean', default: isOn(name, variable) } as const
  const value = variable ?? flag.default
  return {
    describe: described,
    type: 'string',
    nargs: 1, // the next word is the value even when it looks like a flag, as in --storage -2@file://./data
    ...(choices === undefined ? {} : { choices }),
    ...(value === undefined ? {} : { default: value }),
  } as const
}

/** @throws UsageError for a word that could mean either */
function isOn(name: string, variable: string | undefined): boolean {
  if (variable === undefined || variable === '' || variable === 'false' || variable === '0') return false
  if (variable === 'true' || variable === '1') return true
  throw new UsageError(`${variableOf(name)} ${variable}: one of true, false is needed`)
}

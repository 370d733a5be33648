import { readFileSync } from 'node:fs'
import yargs from 'yargs'
import { UsageError } from './exit-errors.ts'
import { serve } from './serve.ts'
import { type ServeArguments, type ServeFlag, serveFlags, variableOf } from './serve-flags.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Runs the command. Returns its exit code: 0 done, 1 failed, 2 not understood. */
export async function main(argv: readonly string[], environment: Environment): Promise<number> {
  let exitCode = 0
  const parser = yargs([...argv])
    .scriptName('pico')
    .usage('$0 <command>')
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false,
      'duplicate-arguments-array': false,
    })
    .command(
      'serve',
      'Serve streams to Kafka clients',
      (command) => {
        for (const [name, flag] of Object.entries<ServeFlag>(serveFlags))
          command.option(name, optionOf(name, flag, environment))
        return command
      },
      async (given) => {
        exitCode = await serve(given as ServeArguments, environment)
      },
    )
    .demandCommand(1, 'pico needs a command, such as: pico serve')
    .strict()
    .help()
    .version(version())
    .wrap(100)
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(message)
    })
  try {
    await parser.parseAsync()
    return exitCode
  } catch (error) {
    if (!(error instanceof UsageError) && !isYargsError(error)) throw error
    console.error(`pico: ${error.message}`)
    return 2
  }
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return String((manifest as { version: unknown }).version)
}

/** The command line first, then the variable, then the default. */
function optionOf(name: string, flag: ServeFlag, environment: Environment) {
  const variable = environment[variableOf(name)]
  const { describe, choices } = flag
  const described = `${describe} [${variableOf(name)}]`
  if (flag.switch)
    return { describe: described, type: 'boolean', default: variable === 'true' || variable === '1' } as const
  const value = variable ?? flag.default
  return {
    describe: described,
    type: 'string',
    nargs: 1, // the next word is the value even when it looks like a flag, as in --storage -2@file://./data
    ...(choices === undefined ? {} : { choices }),
    ...(value === undefined ? {} : { default: value }),
  } as const
}

function isYargsError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'YError'
}

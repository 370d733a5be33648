import yargs, { type Argv } from 'yargs'
import { adminCommand, adminFlagNames } from './admin-commands/admin-command.ts'
import { commandLineProblem, problemTexts } from './command-line-problem.ts'
import { allClientFlagNames, clientCommands, clientFlagNames } from './commands/client-commands.ts'
import { UsageError } from './exit-errors.ts'
import { type Environment, serveCommand } from './serve-command.ts'
import { serveFlags } from './serve-flags.ts'
import { unknownVariables } from './unknown-variables.ts'
import { version } from './version.ts'

/** Runs the command. Returns its exit code: 0 done, 1 failed, 2 not understood. */
export async function main(argv: readonly string[], environment: Environment): Promise<number> {
  let exitCode = 0
  const ended = (code: number) => {
    exitCode = code
  }
  const problem = (message: string) => commandLineProblem(message, argv, knownFlags(argv[0]))
  const warnings = unknownVariables(environment, [...Object.keys(serveFlags), ...allClientFlagNames, ...adminFlagNames])
  if (argv[0] !== 'serve') for (const warning of warnings) console.error(`pico: ${warning}`)
  const parser: Argv = yargs([...argv])
    .scriptName('pico')
    .usage('$0 <command>')
    .detectLocale(false)
    .updateStrings(problemTexts as unknown as Record<string, string>) // texts with a plural are pairs, which its types forget
    .parserConfiguration({
      'boolean-negation': false,
      'camel-case-expansion': false,
      'duplicate-arguments-array': false,
    })
    .command(serveCommand(environment, warnings, ended))
    .command(clientCommands(environment, ended))
    .command(adminCommand(environment, ended))
    .demandCommand(1, 'pico needs a command, such as: pico serve')
    .strict()
    .help()
    .version(version())
    .wrap(100)
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(problem(message))
    })
  try {
    await parser.parseAsync()
    return exitCode
  } catch (error) {
    if (!(error instanceof UsageError) && !isYargsError(error)) throw error
    console.error(`pico: ${error instanceof UsageError ? error.message : problem(error.message)}`)
    return 2
  }
}

/** Of that command, for who mistypes one. */
function knownFlags(command: string | undefined): readonly string[] {
  if (command === 'serve') return Object.keys(serveFlags)
  return command === 'admin' ? adminFlagNames : clientFlagNames(command)
}

function isYargsError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'YError'
}

import type { CommandModule } from 'yargs'
import { appendCommand } from './append.ts'
import { benchCommand } from './bench.ts'
import { type ClientCommand, clientCommand, flagsOf } from './client-command.ts'
import { configCommand } from './config.ts'
import { createCommand } from './create.ts'
import type { Environment } from './given-flags.ts'
import { lsCommand } from './ls.ts'
import { readCommand } from './read.ts'
import { schemaCommand } from './schema.ts'
import { closeCommand, deleteCommand, headCommand, trimCommand } from './stream-commands.ts'
import { tailCommand } from './tail.ts'

const commands: readonly ClientCommand[] = [
  createCommand,
  appendCommand,
  readCommand,
  tailCommand,
  headCommand,
  lsCommand,
  trimCommand,
  closeCommand,
  deleteCommand,
  schemaCommand,
  benchCommand,
  configCommand,
]

/** What talks to a server. Their exit code goes to `ended`. */
export function clientCommands(environment: Environment, ended: (exitCode: number) => void): CommandModule[] {
  return commands.map((command) => clientCommand(command, environment, ended))
}

/** Of all client commands. */
export const allClientFlagNames: readonly string[] = [...new Set(commands.flatMap((one) => Object.keys(flagsOf(one))))]

/** The flags of a client command, by its name; none for other commands. */
export function clientFlagNames(name: string | undefined): readonly string[] {
  const command = commands.find(({ command }) => command.split(' ', 1)[0] === name)
  return command === undefined ? [] : Object.keys(flagsOf(command))
}

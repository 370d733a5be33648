import type { CommandModule } from 'yargs'
import { clientCommand, flagsOf } from '../commands/client-command.ts'
import { type Environment, optionOf } from '../commands/given-flags.ts'
import { adminFlags } from './admin-api.ts'
import { clusterCommand, nodesCommand, setSlotsCommand } from './cluster-commands.ts'
import { groupCommand, groupsCommand } from './group-commands.ts'
import { streamCommand, streamsCommand } from './stream-commands.ts'
import { transferCommand } from './transfer-command.ts'
import { verifyCommand } from './verify-command.ts'

const commands = [
  clusterCommand,
  nodesCommand,
  setSlotsCommand,
  streamsCommand,
  streamCommand,
  transferCommand,
  groupsCommand,
  groupCommand,
  verifyCommand,
]

/** `pico admin …`, for yargs: what the admin API of a server shows and changes, and what its database and its store prove. The exit code goes to `ended`. */
export function adminCommand(environment: Environment, ended: (exitCode: number) => void): CommandModule {
  return {
    command: 'admin',
    describe: 'Show what a server has: cluster, nodes, streams, consumer groups; move streams; verify what it stores',
    builder(parser) {
      // Here too, so that a mistyped command is not told of its flags.
      for (const [name, flag] of Object.entries(adminFlags)) parser.option(name, optionOf(name, flag))
      for (const command of commands) parser.command(clientCommand(command, environment, ended))
      return parser.demandCommand(1, 'pico admin needs a command, such as: pico admin streams')
    },
    handler() {},
  }
}

export const adminFlagNames = [...new Set(commands.flatMap((command) => Object.keys(flagsOf(command))))]

import type { ClientCommand } from '../commands/client-command.ts'
import type { ClientFlags } from '../commands/given-flags.ts'
import { UsageError } from '../exit-errors.ts'
import { serveFlags } from '../serve-flags.ts'

export const verifyFlags: ClientFlags = {
  'meta-url': serveFlags['meta-url'],
  storage: serveFlags.storage,
  wal: serveFlags.wal,
  deep: { describe: 'Read all that is needed, and verify its checksums', switch: true },
  'bound-sec': { describe: 'How old an object may be that no row knows, or that should be gone', default: '7200' },
  'max-findings': { describe: 'Stop after so many', default: '1000' },
  json: { describe: 'In JSON: a line for each finding, and one for the whole', switch: true },
}

export const verifyCommand: ClientCommand = {
  command: 'verify',
  describe: 'Prove that a database and a store agree; asks no server',
  flags: verifyFlags,
  local: true,
  async run(context) {
    if (context.words['admin-endpoint'] !== undefined) {
      throw new UsageError('pico admin verify asks no server: --meta-url, --storage and --wal say what it looks at')
    }
    // Loaded only here: the other commands need neither databases nor stores.
    const { runVerify } = await import('../verify/run-verify.ts')
    await runVerify(context)
  },
}

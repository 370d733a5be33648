/** A command that did not do what it was told: exit 1. The message is one line for whoever gave it. */
export class CommandFailure extends Error {
  readonly code = 'PICO_COMMAND_FAILED'
  override readonly name = 'CommandFailure'
}

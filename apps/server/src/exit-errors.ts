/** The command was not understood: exit 2. The message names the flag. */
export class UsageError extends Error {
  readonly code = 'PICO_USAGE'
  override readonly name = 'UsageError'
}

/** The server cannot start as it was told to: exit 1. The message is one line for an operator and names the flag to look at. */
export class StartupError extends Error {
  readonly code = 'PICO_STARTUP'
  override readonly name = 'StartupError'
}

/** Another process goes on as this node: this one must not come back. */
export class ReplacedError extends StartupError {}

import { StartupError, UsageError } from './exit-errors.ts'
import { parseFaultPoint } from './faults.ts'
import { openLogger } from './logger.ts'
import { serverConfig } from './serve-config.ts'
import type { ServeArguments } from './serve-flags.ts'
import { type RunningServer, startServer } from './start-server.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * `pico serve`: runs until a signal, or until it may not go on. Returns the exit code. `warnings` go to the log.
 * @throws UsageError
 */
export async function serve(
  given: ServeArguments,
  environment: Environment,
  warnings: readonly string[],
): Promise<number> {
  let server: RunningServer
  const signals = new Signals()
  try {
    const config = serverConfig(given)
    const fault = parseFaultPoint(environment)
    const log = await openLogger(config.logLevel, { pretty: process.stderr.isTTY === true })
    for (const warning of warnings) log.warn(warning)
    const starting = startServer(config, { log, fault })
    const started = await Promise.race([starting, signals.first])
    // What a start has done so far is what a crash leaves, which the next one takes over.
    if (typeof started === 'string') process.exit(0)
    server = started
    const end = await Promise.race([signals.first, server.fenced])
    log.info({ reason: end }, 'stopping')
    await server.close()
    log.info('stopped')
    return end === 'fenced' ? 1 : 0
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof StartupError)) throw error
    console.error(`pico: ${error.message}`)
    return 1
  } finally {
    signals.close()
  }
}

/** The first SIGTERM or SIGINT asks for an orderly end; the second one ends the process at once. */
class Signals {
  readonly first: Promise<NodeJS.Signals>
  readonly #close: () => void

  constructor() {
    const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
    this.first = promise
    let asked = false
    const received = (signal: NodeJS.Signals) => {
      if (asked) process.exit(1)
      asked = true
      resolve(signal)
    }
    process.on('SIGTERM', received)
    process.on('SIGINT', received)
    // Without a listener nothing else would keep the process alive.
    const alive = setInterval(() => undefined, 2 ** 30)
    this.#close = () => {
      process.off('SIGTERM', received)
      process.off('SIGINT', received)
      clearInterval(alive)
    }
  }

  close(): void {
    this.#close()
  }
}

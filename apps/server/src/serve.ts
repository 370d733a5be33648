import { FencedError, MetadataUnavailableError } from '@pico/metadata'
import { ReplacedError, StartupError, UsageError } from './exit-errors.ts'
import { parseFaultPoint } from './faults.ts'
import { openLogger } from './logger.ts'
import type { NodeRuns } from './open-persistence.ts'
import { type ServerConfig, serverConfig } from './serve-config.ts'
import type { ServeArguments } from './serve-flags.ts'
import { type RunningServer, type ServerComponents, startServer } from './start-server.ts'

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
  const signals = new Signals()
  try {
    const config = serverConfig(given)
    const fault = parseFaultPoint(environment)
    const log = await openLogger(config.logLevel, { pretty: process.stderr.isTTY === true })
    for (const warning of warnings) log.warn(warning)
    const runs: NodeRuns = { latest: null }
    const components = { log, runs }
    for (let isFirst = true; ; isFirst = false) {
      const starting = isFirst ? startServer(config, { ...components, fault }) : comeBack(config, components, signals)
      const started: RunningServer | NodeJS.Signals = await Promise.race([starting, signals.first])
      // What a start has done so far is what a crash leaves, which the next one takes over.
      if (typeof started === 'string') process.exit(0)
      const end = await Promise.race([signals.first, started.fenced])
      log.info({ reason: end }, 'stopping')
      await started.close()
      log.info('stopped')
      if (end !== 'fenced') return 0
      log.warn('fenced: others may have taken over; starting anew')
    }
  } catch (error) {
    if (error instanceof UsageError || !(error instanceof StartupError)) throw error
    console.error(`pico: ${error.message}`)
    return 1
  } finally {
    signals.close()
  }
}

const comeBackMs = 1000

/** Starts again as a new run of the node, however long the database or the store stay away. @throws ReplacedError */
async function comeBack(config: ServerConfig, components: ServerComponents, signals: Signals): Promise<RunningServer> {
  for (;;) {
    try {
      return await startServer(config, components)
    } catch (error) {
      if (error instanceof ReplacedError || !isPassing(error)) throw error
      components.log.warn({ err: error }, 'the node could not start anew, which will be tried again')
    }
    await Promise.race([signals.first, new Promise((resolve) => setTimeout(resolve, comeBackMs))])
  }
}

/** The world is not as it should be, which may pass. */
function isPassing(error: unknown): boolean {
  return error instanceof StartupError || error instanceof MetadataUnavailableError || error instanceof FencedError
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

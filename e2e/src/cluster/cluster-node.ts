import { freePorts, type ProcessExit, type RunningProcess, startProcess } from '../child-process.ts'
import { serveWords } from '../pico.ts'

/** A `pico serve` of a cluster. Its ports are its own for as long as the cluster is there, whether it runs or not. */
export interface ClusterNode {
  readonly nodeId: number
  readonly kafkaPort: number
  readonly httpUrl: string
  readonly adminUrl: string
  /** Everything that it ever wrote, of all its starts. */
  readonly logFile: string
  /** The one that runs, or ran last. */
  readonly process: RunningProcess
  /** Waits until it says that it is ready. Begins anew when it ends, as whoever looks after processes does: a database may be away. */
  start(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGTERM. @throws Error when it does not end in time, or not with 0 */
  terminate(timeoutMs?: number): Promise<void>
  /** SIGSTOP: connections stand, and nothing is answered. */
  pause(): void
  /** SIGCONT. */
  resume(): void
  /** How it ended, if it did so by itself. */
  endedByItself(): ProcessExit | undefined
}

export interface ClusterNodeSettings {
  readonly nodeId: number
  readonly metaUrl: string
  readonly storage: string
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
}

/** How long it may end again and again. */
const startMs = 20_000
/** How long it may take to take leave: twice what is promised for 1,000 active streams. */
const patienceMs = 20_000

export async function startClusterNode(settings: ClusterNodeSettings): Promise<ClusterNode> {
  const { nodeId, metaUrl, storage, folder } = settings
  const [port, httpPort, adminPort] = (await freePorts(3)) as [number, number, number]
  const adminUrl = `http://127.0.0.1:${adminPort}`
  const logFile = `${folder}/node-${nodeId}.log`
  const args = [
    ...serveWords({ port, httpPort, adminPort, metaUrl, storage }),
    ...['--node-id', `${nodeId}`],
    ...settings.flags,
  ]
  const start = () =>
    startProcess({
      ...{ name: `node ${nodeId}`, command: process.execPath, args, cwd: folder, env: settings.env, logFile },
      ready: () => isReady({ adminUrl }),
      readyTimeoutMs: 60_000,
    })
  let running = await start()
  let endedByUs = false
  return {
    ...{ nodeId, kafkaPort: port, httpUrl: `http://127.0.0.1:${httpPort}`, adminUrl, logFile },
    get process() {
      return running
    },
    async start() {
      for (const deadline = Date.now() + startMs; ; ) {
        try {
          running = await start()
          break
        } catch (error) {
          if (Date.now() > deadline) throw error
        }
      }
      endedByUs = false
    },
    async kill() {
      endedByUs = true
      await running.kill()
    },
    async terminate(timeoutMs = patienceMs) {
      endedByUs = true
      const { code, forced } = await running.stop(timeoutMs)
      if (forced) throw new Error(`node ${nodeId} did not end within ${timeoutMs} ms of SIGTERM`)
      if (code !== 0) throw new Error(`node ${nodeId} ended with ${code} after SIGTERM`)
    },
    pause: () => process.kill(running.pid, 'SIGSTOP'),
    resume: () => process.kill(running.pid, 'SIGCONT'),
    endedByItself: () => (endedByUs ? undefined : running.exit()),
  }
}

export async function isReady({ adminUrl }: Pick<ClusterNode, 'adminUrl'>): Promise<boolean> {
  const answer = await askAdmin(`${adminUrl}/ready`)
  await answer?.body?.cancel()
  return answer?.status === 200
}

/** Which of its lives a node is in, by its own word; undefined while it says nothing. */
export async function nodeEpochOf({ adminUrl }: ClusterNode): Promise<number | undefined> {
  const answer = await askAdmin(`${adminUrl}/admin/cluster`)
  if (answer === undefined) return undefined
  if (answer.status !== 200) {
    await answer.body?.cancel()
    return undefined
  }
  const { nodeEpoch } = (await answer.json()) as { readonly nodeEpoch: number }
  return nodeEpoch
}

/** Undefined while it does not listen, breaks off, or says nothing for a while. With a body, which is sent as JSON, it is a POST. */
export async function askAdmin(url: string, body?: object): Promise<Response | undefined> {
  const post = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
  try {
    return await fetch(url, { ...(body !== undefined && post), signal: AbortSignal.timeout(2000) })
  } catch (error) {
    if (error instanceof TypeError || (error instanceof DOMException && error.name === 'TimeoutError')) return undefined
    throw error
  }
}

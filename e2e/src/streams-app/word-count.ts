import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type RunningProcess, run, startProcess } from '../child-process.ts'
import { shortJvm } from '../clients/java.ts'
import { javaTools } from '../toolchain.ts'

/** One instance of the Kafka Streams application of `e2e/java/src/WordCount.java`. */
export interface WordCountInstance {
  readonly process: RunningProcess
  /** Records that it has read back from changelogs, by store. */
  restored(): ReadonlyMap<string, number>
  /** Closes it as an application should: what it has counted is committed. */
  stop(): Promise<void>
  /** SIGKILL. What it kept in its folder is deleted. */
  killAndForget(): Promise<void>
}

export const applicationId = 'word-count'
/** As Kafka Streams names what it makes for itself. */
export const internalTopics = {
  repartition: `${applicationId}-words-repartition`,
  changelogs: [`${applicationId}-counts-changelog`, `${applicationId}-numbers-changelog`],
} as const

/** `folder` is its own: its state, and what RocksDB unpacks. */
export async function startWordCount(bootstrap: string, folder: string): Promise<WordCountInstance> {
  const { classpath } = await javaTools()
  const state = join(folder, 'state')
  const properties = {
    'bootstrap.servers': bootstrap,
    'application.id': applicationId,
    'state.dir': state,
    'processing.guarantee': 'at_least_once',
    'commit.interval.ms': '500',
    // Each change goes to the changelog and on, and what is committed is deleted from the repartition topic soon.
    'statestore.cache.max.bytes': '0',
    'repartition.purge.interval.ms': '1000',
    // Whoever has nothing may get a task at once, without a standby that warms up for ten minutes first.
    'acceptable.recovery.lag': `${2 ** 40}`,
    'session.timeout.ms': '10000',
    'heartbeat.interval.ms': '1000',
    'auto.offset.reset': 'earliest',
    'metadata.max.age.ms': '5000',
    'reconnect.backoff.max.ms': '500',
  }
  const given = Object.entries(properties).map(([name, value]) => `${name}=${value}`)
  const restored = new Map<string, number>()
  let unfinished = ''
  const running = await startProcess({
    name: 'a Streams application',
    command: 'java',
    args: [...shortJvm, '-Xmx256m', `-Djava.io.tmpdir=${folder}`, '-cp', classpath, 'WordCount', ...given],
    onStdout(chunk) {
      const lines = (unfinished + chunk.toString()).split('\n')
      unfinished = lines.pop() ?? ''
      for (const line of lines) {
        const [what, store = '', , records] = line.split(' ')
        if (what === 'restored') restored.set(store, (restored.get(store) ?? 0) + Number(records))
      }
    },
    ready: (output) => output.includes('state RUNNING'),
    readyTimeoutMs: 180_000,
  })
  return {
    process: running,
    restored: () => restored,
    async stop() {
      const { forced } = await running.stop(30_000)
      if (forced) throw new Error(`${running.name} did not end:\n${running.output().slice(-4000)}`)
    },
    async killAndForget() {
      await running.kill()
      rmSync(state, { recursive: true })
    },
  }
}

/** Writes lines to the partitions of a topic in turn, at a pace, each once, through restarts of the broker. */
export async function writeLines(
  bootstrap: string,
  topic: string,
  lines: readonly string[],
  linesPerSecond: number,
): Promise<void> {
  const { classpath } = await javaTools()
  const args = [...shortJvm, '-cp', classpath, 'WriteLines', bootstrap, topic, `${linesPerSecond}`]
  await run('java', args, { input: lines.join('\n'), timeoutMs: 180_000 })
}

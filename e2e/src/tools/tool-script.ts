import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { shortJvm } from '../clients/java.ts'
import { javaTools } from '../toolchain.ts'

/** One call of a tool, as its script in Kafka's bin folder would make it. */
export interface ToolStep {
  readonly name: string
  /** The main class. */
  readonly tool: string
  readonly args: readonly string[]
  readonly input?: string
  /** What a run of it must differ in, made equal: times, ids, rates. */
  readonly normalize?: (line: string) => string | null
  /** Its lines come in no order that could be relied on. */
  readonly isUnordered?: boolean
}

export interface ToolResult {
  readonly exitCode: number
  /** Lines printed, without empty ones, words one space apart. */
  readonly lines: readonly string[]
}

/** Runs the steps in order, in one JVM, against a broker. `BROKER` in an argument is its address. */
export async function runTools(bootstrap: string, steps: readonly ToolStep[]): Promise<Map<string, ToolResult>> {
  const { classpath } = await javaTools()
  const jvm = spawn('java', [...shortJvm, '-cp', classpath, 'RunTools'], { stdio: ['pipe', 'pipe', 'inherit'] })
  const answers = createInterface({ input: jvm.stdout })[Symbol.asyncIterator]()
  const results = new Map<string, ToolResult>()
  try {
    for (const step of steps) {
      const args = step.args.map((arg) => arg.replaceAll('BROKER', bootstrap))
      jvm.stdin.write(`${[step.tool, Buffer.from(step.input ?? '').toString('base64'), ...args].join('\t')}\n`)
      const answer = await answers.next()
      if (answer.done) throw new Error(`${step.name}: the JVM ended`)
      const [exitCode = '', printed = ''] = answer.value.split(' ')
      const lines = linesOf(printed, bootstrap, step)
      results.set(step.name, { exitCode: Number(exitCode), lines: step.isUnordered ? lines.toSorted() : lines })
    }
  } finally {
    jvm.stdin.end()
    if (jvm.exitCode === null) await once(jvm, 'exit')
  }
  return results
}

function linesOf(printed: string, bootstrap: string, { normalize = (line) => line }: ToolStep): string[] {
  const lines = Buffer.from(printed, 'base64').toString().split('\n')
  return lines.flatMap((line) => {
    const tidy = line.trim().replaceAll(/\s+/g, ' ').replaceAll(bootstrap, 'BROKER')
    // What the clients' loggers say is not what the tool says.
    const kept =
      tidy === '' || /^\[[^\]]*\] (WARN|INFO|ERROR) |^(SLF4J|\[main\] WARN)/.test(tidy) ? null : normalize(tidy)
    return kept === null ? [] : [kept]
  })
}

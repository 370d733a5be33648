import { run } from '../child-process.ts'
import { kcatTool } from '../toolchain.ts'

/**
 * What a table made from a topic holds: the last value of each key, as kcat reads it from the beginning to the end.
 * `records` is how many it was given on the way. Keys and values are text; `packed` says what values are instead (kcat's `-s value=`).
 */
export async function latestByKey(
  bootstrap: string,
  topic: string,
  packed?: string,
): Promise<{ latest: Map<string, string>; records: number }> {
  const { kcat } = await kcatTool()
  const pack = packed === undefined ? [] : ['-s', `value=${packed}`]
  const args = ['-C', '-q', '-e', '-b', bootstrap, '-t', topic, '-o', 'beginning', '-f', '%k %s\\n', ...pack]
  const { stdout } = await run(kcat, args)
  const lines = stdout.toString().split('\n').slice(0, -1)
  const latest = new Map<string, string>()
  for (const line of lines) {
    const at = line.indexOf(' ')
    latest.set(line.slice(0, at), line.slice(at + 1))
  }
  return { latest, records: lines.length }
}

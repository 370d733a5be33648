import { run } from '../child-process.ts'
import { kcatTool } from '../toolchain.ts'
import { type KafkaClient, propertiesOf } from './client.ts'
import type { ReadRecord, TestRecord } from './record.ts'

/** Split input and output into records; long enough that no record holds them by chance. */
const recordEnd = '<-~record~->'
const keyEnd = '<-~key~->'

/** kcat, as it comes with the system: an older librdkafka (2.0 on Debian 12). */
export const kcat: KafkaClient = {
  name: 'kcat',
  limits: { nullHeaderValues: true, binaryHeaderValues: false, recordsOfNothing: false },
  tool: kcatTool,
  readsByGroup: false,
  async write(bootstrap, topic, records, how) {
    const { kcat } = await kcatTool()
    const properties = propertiesOf(bootstrap, how).flatMap((property) => ['-X', property])
    for (const { args, records: together } of commands(records)) {
      const input = Buffer.concat(together.map(render))
      await run(kcat, ['-P', '-q', '-t', topic, '-p', '0', '-D', recordEnd, '-K', keyEnd, ...properties, ...args], {
        input,
      })
    }
    return undefined
  },
  async read(bootstrap, wanted) {
    const { kcat } = await kcatTool()
    const byTopic = new Map<string, ReadRecord[]>()
    for (const [topic, count] of wanted) {
      const from = ['-C', '-q', '-b', bootstrap, '-t', topic, '-p', '0', '-o', 'beginning', '-c', `${count}`]
      const { stdout } = await run(kcat, [...from, '-f', `%o %T %K %S %k%s%h${recordEnd}`], { timeoutMs: 30_000 })
      byTopic.set(topic, parse(stdout))
    }
    return byTopic
  },
  /** It prints the value of a header up to its first zero byte. */
  shows(record) {
    const upToZero = (value: Buffer | null) => (value?.includes(0) ? value.subarray(0, value.indexOf(0)) : value)
    return { ...record, headers: record.headers.map(([name, value]) => [name, upToZero(value)] as const) }
  },
}

/** Headers, and whether an empty value means null, hold for a whole kcat command: records that agree go together. */
function commands(records: readonly TestRecord[]): { args: string[]; records: TestRecord[] }[] {
  const list: { args: string[]; records: TestRecord[] }[] = []
  for (const record of records) {
    const args = record.headers.flatMap(([name, value]) => ['-H', value === null ? name : `${name}=${value}`])
    if (record.value === null) args.push('-Z')
    const last = list.at(-1)
    if (last !== undefined && last.args.join('\n') === args.join('\n')) last.records.push(record)
    else list.push({ args, records: [record] })
  }
  return list
}

function render({ key, value }: TestRecord): Buffer {
  const keyPart = key === null ? [] : [key, Buffer.from(keyEnd)]
  return Buffer.concat([...keyPart, value ?? Buffer.alloc(0), Buffer.from(recordEnd)])
}

function parse(stdout: Buffer): ReadRecord[] {
  const records: ReadRecord[] = []
  for (let at = 0; at < stdout.length; ) {
    const numbers: number[] = []
    for (let field = 0; field < 4; field++) {
      const end = stdout.indexOf(' ', at)
      numbers.push(Number(stdout.toString('latin1', at, end)))
      at = end + 1
    }
    const [offset = Number.NaN, timestampMs = Number.NaN, keyLength = 0, valueLength = 0] = numbers
    const take = (length: number) => {
      if (length < 0) return null
      at += length
      return stdout.subarray(at - length, at)
    }
    const key = take(keyLength)
    const value = take(valueLength)
    const end = stdout.indexOf(recordEnd, at)
    const headers = parseHeaders(stdout.subarray(at, end))
    at = end + recordEnd.length
    records.push({ offset, timestampMs, key, value, headers })
  }
  return records
}

/** kcat prints `name=value,name=value`, and NULL for null; the test records hold no `,`, no `=` and no value "NULL". */
function parseHeaders(bytes: Buffer): ReadRecord['headers'] {
  if (bytes.length === 0) return []
  return bytes
    .toString('latin1')
    .split(',')
    .map((pair) => {
      const [name = '', value = ''] = pair.split('=').map((part) => Buffer.from(part, 'latin1'))
      return [name.toString(), value.toString() === 'NULL' ? null : Buffer.from(value)] as const
    })
}

import type { ReadRecord, TestRecord } from './record.ts'

/** How records cross the process boundary to the Java and Python programs: a JSON object a line, bytes in base64. */
export function toJsonLines(records: readonly TestRecord[]): string {
  return records
    .map(({ key, value, headers }) => {
      const base64 = (bytes: Buffer | null) => bytes?.toString('base64') ?? null
      const line = { key: base64(key), value: base64(value), headers: headers.map(([n, v]) => [n, base64(v)]) }
      return `${JSON.stringify(line)}\n`
    })
    .join('')
}

interface Line {
  topic: string
  offset: number
  timestamp: number
  key: string | null
  value: string | null
  headers: [string, string | null][]
}

export function fromJsonLines(stdout: Buffer): Map<string, ReadRecord[]> {
  const byTopic = new Map<string, ReadRecord[]>()
  const bytes = (text: string | null) => (text === null ? null : Buffer.from(text, 'base64'))
  for (const text of stdout.toString('latin1').split('\n')) {
    if (text === '') continue
    const line = JSON.parse(Buffer.from(text, 'latin1').toString()) as Line
    const records = byTopic.get(line.topic) ?? []
    byTopic.set(line.topic, records)
    records.push({
      offset: line.offset,
      timestampMs: line.timestamp,
      key: bytes(line.key),
      value: bytes(line.value),
      headers: line.headers.map(([name, value]) => [name, bytes(value)] as const),
    })
  }
  return byTopic
}

/** The offsets that a producing program printed, one a line; -1 where the broker told none. */
export function offsetsFrom(stdout: Buffer): number[] {
  return stdout
    .toString()
    .split('\n')
    .filter((line) => /^-?\d+$/.test(line))
    .map(Number)
}

import assert from 'node:assert/strict'

/**
 * How long a stream may have entries that no compaction by key has looked at, by `max.compaction.lag.ms`; null = for ever, as it is
 * for a topic whose `cleanup.policy` does not include `compact`, and where nothing is set.
 */
export function maxCompactionLagMs(config: Readonly<Record<string, string>>): number | null {
  const policy = (config['cleanup.policy'] ?? 'delete').split(',').map((part) => part.trim())
  const text = config['max.compaction.lag.ms']
  if (text === undefined || !policy.includes('compact')) return null
  const value = /^[+]?\d+$/.test(text.trim()) ? Number(text) : Number.NaN
  assert(value > 0, `max.compaction.lag.ms is not a limit: ${text}`)
  return value > Number.MAX_SAFE_INTEGER ? null : value
}

import assert from 'node:assert/strict'

/** What a topic's settings say about retention; null = unlimited. */
export interface RetentionLimits {
  readonly retentionMs: number | null
  readonly retentionBytes: number | null
}

/**
 * Reads `retention.ms`, `retention.bytes` and `cleanup.policy` as Kafka does: -1 is unlimited, and a topic whose policy does not
 * include `delete` is never trimmed by retention. Absent limits are unlimited here; defaults belong to the caller.
 */
export function retentionLimits(config: Readonly<Record<string, string>>): RetentionLimits {
  const policy = (config['cleanup.policy'] ?? 'delete').split(',').map((part) => part.trim())
  if (!policy.includes('delete')) return { retentionMs: null, retentionBytes: null }
  return { retentionMs: limit(config, 'retention.ms'), retentionBytes: limit(config, 'retention.bytes') }
}

function limit(config: Readonly<Record<string, string>>, key: string): number | null {
  const text = config[key]
  if (text === undefined) return null
  // Kafka's settings are int64, and its largest value is a common way to say "for ever".
  const value = /^[+-]?\d+$/.test(text.trim()) ? Number(text) : Number.NaN
  assert(value >= -1, `${key} is not a limit: ${text}`)
  return value < 0 || value > Number.MAX_SAFE_INTEGER ? null : value
}

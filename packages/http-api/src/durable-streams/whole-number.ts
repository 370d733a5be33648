/** Digits and nothing else, up to 2^53 - 1; null for everything else (`1e3`, `+1`, `1abc`, the empty text). */
export function parseWholeNumber(text: string): number | null {
  // 1000 zeros before a digit are digits too, but a number that long is nobody's.
  if (!/^\d{1,32}$/.test(text)) return null
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : null
}

/** The same without leading zeros, as the protocol has it for lifetimes and sub-offsets. */
export function parseCanonicalNumber(text: string): number | null {
  return /^(0|[1-9]\d*)$/.test(text) ? parseWholeNumber(text) : null
}

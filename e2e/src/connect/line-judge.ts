/** Line `number` of the source, from 1: of many lengths. All ASCII, as the file source takes characters for bytes when it seeks. */
export function sourceLine(number: number): string {
  return `<${number}> ${'quick brown fox '.repeat((number * 7) % 11)}`
}

export interface LineReport {
  /** Lines that the source has and the sink has not. */
  readonly missing: readonly number[]
  /** What at least once does not explain, in words. */
  readonly faults: readonly string[]
  /** How often the sink did not go on with the line after the last: where something was delivered again. */
  readonly seams: number
  /** Ends of lines that were cut off by the death of the worker that wrote them, with the next line in the same line. */
  readonly torn: number
}

/**
 * Holds the lines of a sink against the first `written` of the source. Lines may come again, but each must have come
 * before the next one comes for the first time, and none be altered.
 */
export function judgeLines(sink: readonly string[], written: number): LineReport {
  const faults: string[] = []
  const seen = new Set<number>()
  let [last, furthest, seams, torn] = [0, 0, 0, 0]
  for (const [at, line] of sink.entries()) {
    const number = Number(/<(\d+)> [^<]*$/.exec(line)?.[1])
    const whole = sourceLine(number)
    const cutOff = line.slice(0, -whole.length)
    if (!(number >= 1 && number <= written) || !line.endsWith(whole) || !isBeginning(cutOff)) {
      faults.push(`line ${at} is nobody's: ${line.slice(0, 200)}`)
      continue
    }
    if (cutOff !== '') torn++
    if (number > furthest + 1) faults.push(`line ${at}: ${number} comes after ${furthest}`)
    if (number !== last + 1) seams++
    last = number
    furthest = Math.max(furthest, number)
    seen.add(number)
  }
  const missing = Array.from({ length: written }, (_, index) => index + 1).filter((number) => !seen.has(number))
  return { missing, faults, seams, torn }
}

function isBeginning(text: string): boolean {
  return sourceLine(Number(/^<(\d+)/.exec(text)?.[1] ?? 1)).startsWith(text)
}

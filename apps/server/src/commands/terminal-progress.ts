/** A line on the terminal that says how far it is; nothing where no terminal is. */
export class TerminalProgress {
  readonly #stream: NodeJS.WriteStream
  readonly #beganMs = performance.now()
  #shownMs = Number.NEGATIVE_INFINITY
  #isShown = false

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream
  }

  /** As often as one likes. */
  show(records: number, bytes: number): void {
    const nowMs = performance.now()
    if (!this.#stream.isTTY || nowMs - this.#shownMs < 200) return
    this.#shownMs = nowMs
    this.#isShown = true
    this.#stream.write(`\r\u001b[K${this.line(records, bytes)}`)
  }

  clear(): void {
    if (this.#isShown) this.#stream.write('\r\u001b[K')
    this.#isShown = false
  }

  line(records: number, bytes: number): string {
    const seconds = Math.max((performance.now() - this.#beganMs) / 1000, 0.001)
    const rate = Math.round(records / seconds)
    return `${grouped(records)} ${records === 1 ? 'record' : 'records'}, ${sizeText(bytes)}, ${grouped(rate)} records/s, ${sizeText(bytes / seconds)}/s`
  }
}

export function grouped(value: number): string {
  return value.toLocaleString('en')
}

/** `1.5 MiB` */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let unit = 0
  let value = bytes
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024
  return `${unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`
}

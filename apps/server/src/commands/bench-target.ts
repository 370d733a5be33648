/** What a bench appends to and reads back: streams of its own, over one protocol or another. */
export interface BenchTarget extends AsyncDisposable {
  /** Where they are, as the figures in JSON say it. */
  readonly where: Readonly<Record<string, string | boolean>>
  readonly streams: readonly BenchStream[]
  /** Makes the streams. What there is of them is deleted in the end, whether this succeeded or not. */
  create(signal: AbortSignal): Promise<void>
}

export interface BenchStream {
  /** Appends the records of one request, the same every time. Resolves once they are acknowledged; nothing is asked twice. */
  append(): Promise<void>
  /** Everything from the beginning to the end. */
  pages(signal: AbortSignal): AsyncIterable<BenchPage>
}

export interface BenchPage {
  readonly records: number
  /** Of the records' values. */
  readonly bytes: number
}

export interface TargetSettings {
  readonly names: readonly string[]
  /** The records of one request. */
  readonly records: readonly Buffer[]
  /** To one server at most; null for one for each request under way. */
  readonly connectionsMax: number | null
}

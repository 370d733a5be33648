/** What came of one attempt to append. */
export type Outcome =
  | { readonly kind: 'acknowledged' }
  /** May be asked again, and everybody's clients do: by what it is called; at once where it says whom, or has been waited for. */
  | { readonly kind: 'passing'; readonly error: string; readonly isLed?: true }
  /** An error that no client retries. */
  | { readonly kind: 'refused'; readonly error: string }

/** One way to append to a stream, by a client that knows all nodes. Never rejects for what a node does. */
export interface AppendingClient {
  /** How it is called in tables. */
  readonly protocol: 'http' | 'kafka'
  append(stream: string): Promise<Outcome>
  close(): void
}

export const acknowledged: Outcome = { kind: 'acknowledged' }

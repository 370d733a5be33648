/** Of one HTTP listener, whatever it serves. */
export interface HttpServerSettings {
  readonly host: string
  /** 0 picks a free one: see `HttpListener.port`. */
  readonly port: number
  /** Largest body of a request; enforced while it arrives. */
  readonly bodyBytesMax: number
  /** All headers of a request together, request line included. */
  readonly headerBytesMax: number
  readonly headersMax: number
  /** From the first byte of a request to the last of its body. */
  readonly requestTimeoutMs: number
  /** How long a connection may be silent between two requests. */
  readonly keepAliveTimeoutMs: number
  /** How long a request may wait until the log has room for its records; then it is answered 503. */
  readonly roomTimeoutMs: number
  /** A client that takes nothing of what it is sent for so long is cut off. */
  readonly stallTimeoutMs: number
  /** Of one HTTP/2 connection. */
  readonly http2StreamsMax: number
  /** Web pages of these origins may read the answers; `*` stands for all. */
  readonly corsOrigins: readonly string[]
}

export const defaultHttpServerSettings: Omit<HttpServerSettings, 'host' | 'port'> = {
  bodyBytesMax: 16 * 1024 * 1024,
  headerBytesMax: 32 * 1024,
  headersMax: 200,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 65_000,
  roomTimeoutMs: 10_000,
  stallTimeoutMs: 60_000,
  http2StreamsMax: 256,
  corsOrigins: [],
}

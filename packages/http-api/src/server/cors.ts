import type { IncomingHttpHeaders } from 'node:http'

/** What a protocol wants web pages to be able to send and to see. */
export interface CorsRules {
  readonly methods: string
  readonly requestHeaders: string
  readonly exposedHeaders: string
}

/** How long a browser may remember a preflight. */
const preflightMaxAgeSeconds = '600'

/** Header lists (names and values in turn) by which a browser decides what a web page may do. */
export class Cors {
  readonly #rules: CorsRules
  readonly #origins: ReadonlySet<string>
  readonly #always: readonly string[]

  constructor(rules: CorsRules, origins: readonly string[]) {
    this.#rules = rules
    this.#origins = new Set(origins)
    // Whoever serves web pages of other origins says so here too, or browsers would refuse to give them images and the like.
    const policy = origins.length > 0 ? 'cross-origin' : 'same-origin'
    this.#always = ['X-Content-Type-Options', 'nosniff', 'Cross-Origin-Resource-Policy', policy]
  }

  /** What every answer carries. */
  headersFor(headers: IncomingHttpHeaders): readonly string[] {
    if (this.#origins.size === 0) return this.#always
    const { origin } = headers
    // Whether or not this request has an origin: a cache must not give its answer to one that has another.
    const vary = ['Vary', 'Origin']
    if (origin === undefined || !this.#isAllowed(origin)) return [...this.#always, ...vary]
    return [
      ...this.#always,
      ...vary,
      'Access-Control-Allow-Origin',
      origin,
      'Access-Control-Expose-Headers',
      this.#rules.exposedHeaders,
    ]
  }

  /** What the answer to OPTIONS carries besides. */
  preflightHeaders(): readonly string[] {
    const { methods, requestHeaders } = this.#rules
    return [
      'Allow',
      methods,
      'Access-Control-Allow-Methods',
      methods,
      'Access-Control-Allow-Headers',
      requestHeaders,
      'Access-Control-Max-Age',
      preflightMaxAgeSeconds,
    ]
  }

  #isAllowed(origin: string): boolean {
    return this.#origins.has('*') || this.#origins.has(origin)
  }
}

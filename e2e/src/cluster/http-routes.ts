import { type HttpAnswer, type HttpCall, httpCall } from '../cross/http-call.ts'
import type { Seeded } from '../cross/seeded.ts'
import { ConnectionLostError } from '../raw-kafka.ts'

/** Asks any node, and whom that names (307). */
export interface HttpRoutes {
  /** @throws ConnectionLostError when no whole answer came: what the request did is unknown */
  ask(call: HttpCall): Promise<RoutedAnswer>
}

export interface RoutedAnswer extends HttpAnswer {
  /** Whose it is. */
  readonly url: string
}

/** Of a stream on its way from node to node there may be a few. */
const redirectsMax = 5

export function httpRoutes(urls: readonly [string, ...string[]], random: Seeded): HttpRoutes {
  return {
    async ask(call) {
      let url: string = random.one(urls)
      let { target } = call
      for (let redirects = 0; ; redirects++) {
        const answer = await httpCall(url, { ...call, target })
        if (answer.status !== 307) return { ...answer, url }
        const { location } = answer.headers
        if (location === undefined) throw new Error(`${call.method} ${url}${target}: a redirect to nowhere`)
        if (redirects === redirectsMax)
          throw new ConnectionLostError(`${target} is sent on and on, last to ${location}`)
        const next = new URL(location, url)
        url = next.origin
        target = next.pathname + next.search
      }
    },
  }
}

import { Agent } from 'node:http'
import { isPassing } from '../../cluster/http-producer.ts'
import { httpCall } from '../../cross/http-call.ts'
import { ConnectionLostError } from '../../raw-kafka.ts'
import { type AppendingClient, acknowledged, type Outcome } from './outcome.ts'

const timeoutMs = 5000

/**
 * Appends over HTTP: goes where the last redirect for a stream led, and to another node when nobody answers there. A redirect counts as an
 * error that passes, and is followed.
 */
export function httpClient(urls: readonly string[], body: Uint8Array): AppendingClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 1024 })
  const places = new Map<string, string>()
  const anyBut = (url: string | undefined) => {
    const others = urls.filter((each) => each !== url)
    return others[Math.floor(Math.random() * others.length)] ?? urls[0] ?? ''
  }
  return {
    protocol: 'http',
    async append(stream): Promise<Outcome> {
      const url = places.get(stream) ?? anyBut(undefined)
      const call = { method: 'POST', target: `/${stream}`, body, timeoutMs, agent }
      const answer = await httpCall(url, call).catch((error: unknown) => {
        if (error instanceof ConnectionLostError) return error
        throw error
      })
      if (answer instanceof ConnectionLostError) {
        places.set(stream, anyBut(url))
        return { kind: 'passing', error: `no answer (${codeOf(answer)})` }
      }
      if (answer.status === 200) {
        places.set(stream, url)
        return acknowledged
      }
      if (answer.status === 307 && answer.headers.location !== undefined) {
        places.set(stream, new URL(answer.headers.location, url).origin)
        return { kind: 'passing', error: '307', isLed: true }
      }
      if (isPassing(answer)) {
        places.set(stream, anyBut(undefined))
        return { kind: 'passing', error: `${answer.status} ${JSON.parse(answer.body.toString()).error}` }
      }
      return { kind: 'refused', error: `${answer.status} ${answer.body}` }
    },
    close: () => agent.destroy(),
  }
}

function codeOf({ cause }: ConnectionLostError): string {
  if (!(cause instanceof Error)) return 'connection lost'
  return 'code' in cause ? String(cause.code) : cause.message
}

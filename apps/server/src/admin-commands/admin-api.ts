import { adminRoutes, errorBodySchema, errorStatuses, mediaTypes, problemText } from '@pico/http-contract'
import type { z } from 'zod'
import { CommandFailure } from '../commands/command-failure.ts'
import type { ClientFlags, GivenFlags } from '../commands/given-flags.ts'
import { UsageError } from '../exit-errors.ts'

export const adminFlags: ClientFlags = {
  'admin-endpoint': { describe: 'Where the admin API is served', default: 'http://127.0.0.1:9090' },
  json: { describe: 'In JSON; of a list, each in a line', switch: true },
}

const deadlineMs = 30_000

const alwaysThere: ReadonlySet<string> = new Set([
  adminRoutes.cluster.path,
  adminRoutes.nodes.path,
  adminRoutes.streams.path,
])

/** Nobody answers, or it is said that it will be possible later. */
export class AdminUnavailable extends CommandFailure {}

/** Asks the admin API of a server, and checks that the answer is what it should be. */
export class AdminApi {
  readonly #endpoint: string
  readonly #signal: AbortSignal

  /** @throws UsageError */
  constructor(flags: GivenFlags, signal: AbortSignal) {
    const endpoint = flags.text('admin-endpoint') ?? 'http://127.0.0.1:9090'
    if (!/^https?:\/\/./.test(endpoint) || !URL.canParse(endpoint))
      throw new UsageError(`--admin-endpoint ${endpoint} is not an http: or https: URL`)
    this.#endpoint = endpoint.replace(/\/+$/, '')
    this.#signal = signal
  }

  /** @throws CommandFailure, AdminUnavailable */
  get<S extends z.ZodType>(path: string, schema: S, query: Readonly<Record<string, string>> = {}) {
    const search = new URLSearchParams(query).toString()
    return this.#ask(path, `${path}${search === '' ? '' : `?${search}`}`, schema)
  }

  /** @throws CommandFailure, AdminUnavailable */
  post<S extends z.ZodType>(path: string, body: object, schema: S) {
    const headers = { 'content-type': mediaTypes.json }
    return this.#ask(path, path, schema, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  async #ask<S extends z.ZodType>(path: string, target: string, schema: S, request: RequestInit = {}) {
    const answer = await this.#fetch(this.#endpoint + target, request)
    const body = await jsonOf(answer)
    if (!answer.ok) {
      const Failure = answer.status === errorStatuses.unavailable ? AdminUnavailable : CommandFailure
      throw new Failure(this.#refusal(path, answer.status, body))
    }
    const checked = schema.safeParse(body)
    if (checked.success) return checked.data
    throw new CommandFailure(
      `${this.#endpoint} (--admin-endpoint) answers ${path} in a form that this version does not know: ${problemText(checked.error)}`,
    )
  }

  async #fetch(url: string, request: RequestInit): Promise<Response> {
    try {
      return await fetch(url, { ...request, signal: AbortSignal.any([this.#signal, AbortSignal.timeout(deadlineMs)]) })
    } catch (error) {
      this.#signal.throwIfAborted()
      throw new AdminUnavailable(`cannot reach ${this.#endpoint} (--admin-endpoint): ${reasonOf(error)}`, {
        cause: error,
      })
    }
  }

  #refusal(path: string, status: number, body: unknown): string {
    const { success, data } = errorBodySchema.safeParse(body)
    // A listener for streams has streams there, such as /admin/cluster.
    if (success && !(status === 404 && alwaysThere.has(path))) return data.message
    return `${this.#endpoint} (--admin-endpoint) answers ${status}: is that an admin listener of pico?`
  }
}

async function jsonOf(answer: Response): Promise<unknown> {
  const text = await answer.text()
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined // what is none of ours fails the schema
    throw error
  }
}

/** fetch says only that it failed; the cause knows why. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer within ${deadlineMs / 1000} s`
  const { cause } = error
  if (cause instanceof Error && 'code' in cause)
    return cause.code === 'ECONNREFUSED' ? 'nobody listens there' : String(cause.code)
  return error.message
}

import type { ByteReader } from '@pico/binary'
import { type Api, encodeResponse, type Fields, type StructInput, type StructOf } from '@pico/kafka-codec'
import { errorCodeWalk } from './answered-errors.ts'

/** The connection that a request came over. */
export interface KafkaClient {
  readonly connectionId: number
  /** The peer's address as Kafka prints it: `/127.0.0.1`. */
  readonly host: string
  /** Aborted when the connection is gone: nobody waits for the answer any more. */
  readonly gone: AbortSignal
}

export interface RequestContext {
  readonly apiVersion: number
  readonly correlationId: number
  /** What the client calls itself (`client.id`); not an identity. */
  readonly clientId: string | null
  readonly client: KafkaClient
  /** Set by a handler whose answer is lent to it: called when the answer has left. It may never, when the connection ends before. */
  answerSent: (() => void) | null
}

/** Says that a request gets no answer and takes no place in the order of answers (Produce with acks=0). */
export class Unanswered {
  /** Why the connection must be closed, the only sign of failure there is; null when all went well. Never rejects. */
  readonly outcome: Promise<string | null>
  constructor(outcome: Promise<string | null>) {
    this.outcome = outcome
  }
}

/**
 * What a handler gives whose effects must follow the order of arrival: the connection's next request does not start before
 * `started` resolves (null: it may at once). A class, because a promise of a promise would be flattened and the two moments lost.
 */
export class Ordered<Response> {
  /** Never rejects. */
  readonly started: Promise<void> | null
  readonly response: Response | Promise<Response> | Unanswered
  constructor(started: Promise<void> | null, response: Response | Promise<Response> | Unanswered) {
    this.started = started
    this.response = response
  }
}

export interface HandlerDefinition<Request extends Fields, Response extends Fields> {
  readonly api: Api<Request, Response>
  /** The versions served, all between: what ApiVersions advertises. */
  readonly versions: readonly [first: number, last: number]
  /**
   * The request brings records: it waits while too much is not durable yet, and its byte fields are borrowed until `handle` returns,
   * so that nothing is copied on the way to the log. Byte fields of any other request last for as long as they are held.
   */
  readonly appends?: boolean
  /**
   * The answer may be large: the request waits until the answers before it have left, so that one connection never holds more than
   * one such answer.
   */
  readonly largeAnswer?: boolean
  /** Runs synchronously up to its first wait, in arrival order. */
  handle(
    request: StructOf<Request>,
    context: RequestContext,
  ): StructInput<Response> | Promise<StructInput<Response>> | Ordered<StructInput<Response>>
  /** The API's own way to say that the whole request failed. */
  fail(request: StructOf<Request>, errorCode: number, context: RequestContext): StructInput<Response>
}

/** Buffers of a whole answer, length prefix included, ready for `writev`. */
export type AnswerFrame = readonly Uint8Array[]

/** A request that has been started, its types erased. */
export type Started = Ordered<AnswerFrame>

/** What a request needs of whoever runs it. */
export interface RequestEdge {
  /** The error code for what a handler threw. */
  explain(error: unknown): number
  /** Told of every error code but 0 in an answer, as often as it stands there. */
  errorAnswered(apiName: string, errorCode: number): void
}

/** A handler with its types erased: what the registry holds. */
export interface Handler {
  readonly key: number
  readonly name: string
  readonly versions: readonly [first: number, last: number]
  readonly appends: boolean
  readonly largeAnswer: boolean
  isFlexible(version: number): boolean
  /**
   * Decodes the body and starts the request. A failure of the handler becomes an answer: `edge` gives it its error code.
   * @throws CodecError when the body cannot be read; nothing has happened then.
   */
  start(body: ByteReader, context: RequestContext, edge: RequestEdge): Started
}

export function handler<Request extends Fields, Response extends Fields>(
  definition: HandlerDefinition<Request, Response>,
): Handler {
  const { api, versions, appends = false, largeAnswer = false } = definition
  const walkErrorCodes = errorCodeWalk(api.responseFields)
  return {
    key: api.key,
    name: api.name,
    versions,
    appends,
    largeAnswer,
    isFlexible: (version) => api.isFlexible(version),
    start(body, context, edge) {
      const { apiVersion } = context
      const request = api.request(apiVersion).read(body)
      const encode = (response: StructInput<Response>) => {
        const frame = encodeResponse(api, apiVersion, context, response)
        walkErrorCodes?.(response, (errorCode) => edge.errorAnswered(api.name, errorCode))
        return frame
      }
      const failed = (error: unknown) => encode(definition.fail(request, edge.explain(error), context))
      const encodeOrFail = (response: StructInput<Response>) => {
        try {
          return encode(response)
        } catch (error) {
          return failed(error)
        }
      }
      try {
        const handled = definition.handle(request, context)
        const { started, response } = handled instanceof Ordered ? handled : new Ordered(null, handled)
        if (response instanceof Unanswered) return new Ordered<AnswerFrame>(started, response)
        if (response instanceof Promise) return new Ordered<AnswerFrame>(started, response.then(encode).catch(failed))
        return new Ordered<AnswerFrame>(started, encodeOrFail(response))
      } catch (error) {
        return new Ordered<AnswerFrame>(null, failed(error))
      }
    },
  }
}

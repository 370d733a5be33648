import type { ReceivedFrame } from './frame-receiver.ts'
import {
  type AnswerFrame,
  type Handler,
  type KafkaClient,
  type RequestContext,
  type Started,
  Unanswered,
} from './handler.ts'
import type { AcceptedRequest, RequestTaker } from './kafka-api.ts'
import type { KafkaObserver } from './observer.ts'

/** The writing half of a connection. */
export interface PipelineOutput {
  /** True when the peer has not taken all that was written: nothing more is started until `Pipeline.resume`. */
  readonly isFull: boolean
  /** `sent`, if there is any, is called when their memory is free: the system has taken all of them, or the connection has ended. */
  write(answers: readonly AnswerFrame[], sent: (() => void) | null): void
  /** Every frame received has been started: there is room for more input. */
  ready(): void
  /** The connection must end, for that reason: the peer's doing. */
  close(reason: string, level?: 'debug' | 'warn'): void
  /** The connection must end because of a bug of ours. */
  crash(error: unknown): void
}

interface Slot {
  readonly handler: Handler
  readonly context: RequestContext
  readonly startedAtMs: number
  answer: AnswerFrame | null
}

/**
 * One connection's requests: started strictly in the order they came, answered strictly in that order (kafka-compat 2.1). What is
 * received and not started, and what is started and not answered, is bounded: past that the input is not read.
 */
export class Pipeline {
  readonly #api: RequestTaker
  readonly #client: KafkaClient
  readonly #output: PipelineOutput
  readonly #observer: KafkaObserver
  readonly #inFlightMax: number
  readonly #received: ReceivedFrame[] = []
  readonly #slots: Slot[] = []
  /** A start under way, or a wait for room: nothing else starts. */
  #blocked = false
  #flushing = false
  #closed = false

  constructor(
    api: RequestTaker,
    client: KafkaClient,
    output: PipelineOutput,
    settings: { readonly requestsInFlightMax: number; readonly observer: KafkaObserver },
  ) {
    this.#api = api
    this.#client = client
    this.#output = output
    this.#inFlightMax = settings.requestsInFlightMax
    this.#observer = settings.observer
  }

  /** True when every frame received has been started: otherwise stop reading until `output.ready()`. */
  get wantsInput(): boolean {
    return this.#received.length === 0
  }

  /** Requests received or started, not answered. */
  get unanswered(): number {
    return this.#received.length + this.#slots.length
  }

  /** Takes a frame in, and starts it if it can: otherwise it is kept. */
  push(frame: ReceivedFrame): void {
    this.#received.push(frame)
    this.#startWhatCan()
    if (this.#received.length > 0) frame.keep()
  }

  /** The peer has taken what was written. */
  resume(): void {
    this.#startWhatCan()
  }

  /** The connection is gone: what has not started never will. */
  close(): void {
    this.#closed = true
    for (const frame of this.#received.splice(0)) frame.release()
    for (const { answer, context } of this.#slots.splice(0)) if (answer !== null) context.answerSent?.()
  }

  #startWhatCan(): void {
    const wasWaiting = this.#received.length > 0
    while (!this.#closed && !this.#blocked && this.#received.length > 0 && this.#startNext());
    if (wasWaiting && this.#received.length === 0 && !this.#closed) this.#output.ready()
  }

  /** False when the first received request has to wait. */
  #startNext(): boolean {
    const frame = this.#received[0]
    if (frame === undefined || this.#output.isFull || this.#slots.length >= this.#inFlightMax) return false
    const request = this.#api.accept(frame.bytes, this.#client)
    if (request.refused !== undefined) {
      this.#end(request.refused, request.isWarning ? 'warn' : 'debug')
      return false
    }
    const { handler, context } = request
    if (handler.largeAnswer && this.#slots.length > 0) return false
    if (handler.appends && !this.#api.hasRoom()) {
      this.#block(this.#api.whenRoom())
      return false
    }
    this.#received.shift()
    const started = this.#start(request)
    frame.release()
    if (started === undefined) return false
    if (started.refused !== undefined) {
      this.#end(started.refused)
      return false
    }
    this.#track(handler, context, started)
    if (started.started !== null) this.#block(started.started)
    return true
  }

  /** A handler turns its own failures into answers: what still throws cannot be answered. */
  #start(request: AcceptedRequest): ReturnType<AcceptedRequest['start']> | undefined {
    try {
      return request.start()
    } catch (error) {
      this.#crash(error)
      return undefined
    }
  }

  #block(until: Promise<void>): void {
    this.#blocked = true
    const goOn = () => {
      this.#blocked = false
      this.#startWhatCan()
    }
    void until.then(goOn, goOn) // when room cannot be waited for (the log is closing), the request finds out by itself
  }

  #track(handler: Handler, context: RequestContext, { response }: Started): void {
    const startedAtMs = performance.now()
    if (response instanceof Unanswered) {
      void response.outcome.then((failure) => {
        this.#observer.requestAnswered(handler.name, context.apiVersion, performance.now() - startedAtMs, 0)
        if (failure !== null) this.#end(failure)
      })
      return
    }
    const slot: Slot = { handler, context, startedAtMs, answer: null }
    this.#slots.push(slot)
    if (response instanceof Promise) {
      response.then(
        (answer) => this.#answered(slot, answer),
        (error: unknown) => this.#crash(error),
      )
    } else this.#answered(slot, response)
  }

  #answered(slot: Slot, answer: AnswerFrame): void {
    slot.answer = answer
    if (this.#closed) slot.context.answerSent?.()
    if (this.#flushing || this.#closed || this.#slots[0] !== slot) return
    // One flush of the log answers many requests in consecutive microtasks: they leave in one write.
    this.#flushing = true
    process.nextTick(() => this.#flush())
  }

  #flush(): void {
    this.#flushing = false
    if (this.#closed) return
    const answers: AnswerFrame[] = []
    const lent: (() => void)[] = []
    const nowMs = performance.now()
    for (let slot = this.#slots[0]; slot !== undefined && slot.answer !== null; slot = this.#slots[0]) {
      answers.push(slot.answer)
      this.#slots.shift()
      if (slot.context.answerSent !== null) lent.push(slot.context.answerSent)
      const bytes = slot.answer.reduce((sum, buffer) => sum + buffer.length, 0)
      this.#observer.requestAnswered(slot.handler.name, slot.context.apiVersion, nowMs - slot.startedAtMs, bytes)
    }
    const sent = () => {
      for (const each of lent) each()
    }
    this.#output.write(answers, lent.length === 0 ? null : sent)
    this.#startWhatCan()
  }

  #end(reason: string, level: 'debug' | 'warn' = 'debug'): void {
    if (this.#closed) return
    this.close()
    this.#output.close(reason, level)
  }

  #crash(error: unknown): void {
    if (this.#closed) return
    this.close()
    this.#output.crash(error)
  }
}

import { heartbeat, kafkaErrors, listGroups, produce, type ResponseInput } from '@pico/kafka-codec'
import { type Handler, handler, Ordered, Unanswered } from '../src/handler.ts'
import { kafkaApiOf } from '../src/kafka-api.ts'
import { defaultListenSettings, type KafkaListener, type ListenSettings, listenKafka } from '../src/listener.ts'
import type { KafkaObserver } from '../src/observer.ts'
import { collectedLog } from './collected-log.ts'
import { WireClient } from './wire-client.ts'

type Response = ResponseInput<typeof produce>

/** Something that a test settles when it wants to. */
export class Gate {
  readonly opened: Promise<void>
  open: () => void = () => undefined
  constructor() {
    this.opened = new Promise((resolve) => {
      this.open = resolve
    })
  }
}

/** A listener over handlers that record their starts and do what the test's gates say: the edge alone, without an engine. */
export class HandlerBench {
  readonly #settings: Partial<ListenSettings>
  readonly log = collectedLog()
  /** Names of requests, in the order they were started. */
  readonly started: string[] = []
  /** By name of request: its answer waits for this. */
  readonly answerGates = new Map<string, Gate>()
  /** By name of request: the start of the next one waits for this. */
  readonly startGates = new Map<string, Gate>()
  /** What the observer was told, but for times and sizes. */
  readonly observed: string[] = []
  room = true
  largeAnswerBytes = 0
  /** Large answers that were made, and those of them whose memory is free again. */
  readonly large = { made: 0, free: 0 }
  readonly #roomWaiters: (() => void)[] = []
  readonly #clients: WireClient[] = []
  #listener: KafkaListener | undefined

  constructor(settings: Partial<ListenSettings> = {}) {
    this.#settings = settings
  }

  get listener(): KafkaListener {
    if (this.#listener === undefined) throw new Error('not listening yet')
    return this.#listener
  }

  async listen(settings: Partial<ListenSettings> = {}): Promise<WireClient> {
    const explain = (error: unknown) => {
      this.log.error({ err: error }, 'bug')
      return kafkaErrors.unknownServerError.code
    }
    const api = {
      ...kafkaApiOf([this.#plain(), this.#ordered(), this.#large()], explain, this.#observer),
      hasRoom: () => this.room,
      whenRoom: () => new Promise<void>((resolve) => this.#roomWaiters.push(resolve)),
      drain: () => undefined,
    }
    this.#listener = await listenKafka(
      { api, log: this.log, observer: this.#observer },
      { ...defaultListenSettings, host: '127.0.0.1', port: 0, ...this.#settings, ...settings },
    )
    return this.connect()
  }

  readonly #observer: KafkaObserver = {
    connectionOpened: () => this.observed.push('opened'),
    connectionClosed: () => this.observed.push('closed'),
    connectionRefused: () => this.observed.push('refused'),
    requestAnswered: (apiName, apiVersion, latencyMs, answerBytes) =>
      this.observed.push(`${apiName} ${apiVersion} ${latencyMs >= 0} ${answerBytes > 0}`),
    errorAnswered: (apiName, errorName) => this.observed.push(`${apiName} ${errorName}`),
  }

  async connect(): Promise<WireClient> {
    const client = await WireClient.connect(this.listener.port)
    this.#clients.push(client)
    return client
  }

  makeRoom(): void {
    this.room = true
    for (const wake of this.#roomWaiters.splice(0)) wake()
  }

  async close(): Promise<void> {
    for (const client of this.#clients) client.close()
    await this.#listener?.close(0)
  }

  /** Heartbeat: the group id is the request's name. `crash…` throws, `reject…` rejects, `nonsense…` answers what cannot be encoded. */
  #plain(): Handler {
    return handler({
      api: heartbeat,
      versions: [0, 4],
      handle: ({ groupId: name }) => {
        this.started.push(name)
        if (name.startsWith('crash')) throw new Error('a bug in a handler')
        if (name.startsWith('reject')) return Promise.reject(new Error('a late bug in a handler'))
        if (name.startsWith('nonsense')) return { throttleTimeMs: 0, errorCode: 1e9 }
        const answer = { throttleTimeMs: 0, errorCode: 0 }
        const gate = this.answerGates.get(name)
        return gate === undefined ? answer : gate.opened.then(() => answer)
      },
      fail: (_, errorCode) => ({ throttleTimeMs: 0, errorCode }),
    })
  }

  /** Produce: the first topic is the request's name. `bad…` fails. */
  #ordered(): Handler {
    return handler({
      api: produce,
      versions: [3, 9],
      appends: true,
      handle: ({ acks, topicData }) => {
        const name = topicData[0]?.name ?? ''
        this.started.push(name)
        const started = this.startGates.get(name)?.opened ?? null
        if (acks === 0) {
          const failure = name.startsWith('bad') ? 'it went wrong' : null
          return new Ordered<Response>(started, new Unanswered((started ?? Promise.resolve()).then(() => failure)))
        }
        const answered = this.answerGates.get(name)?.opened ?? Promise.resolve()
        return new Ordered<Response>(
          started,
          answered.then(() => ({ responses: [], throttleTimeMs: 0 })),
        )
      },
      fail: () => ({ responses: [], throttleTimeMs: 0 }),
    })
  }

  /** ListGroups: an answer as large as the test wants. */
  #large(): Handler {
    return handler({
      api: listGroups,
      versions: [0, 0],
      largeAnswer: true,
      handle: async (_, context) => {
        this.started.push('large')
        await this.answerGates.get('large')?.opened
        this.large.made++
        context.answerSent = () => {
          this.large.free++
        }
        const group = { groupId: 'g'.repeat(1000), protocolType: '', groupState: '', groupType: '' }
        return {
          throttleTimeMs: 0,
          errorCode: 0,
          groups: Array.from({ length: this.largeAnswerBytes / 1000 }, () => group),
        }
      },
      fail: (_, errorCode) => ({ throttleTimeMs: 0, errorCode, groups: [] }),
    })
  }
}

export function heartbeatOf(name: string) {
  return { groupId: name, generationId: 1, memberId: 'm' }
}

export function produceOf(name: string, settings: { acks?: number; records?: Uint8Array } = {}) {
  const { acks = -1, records = new Uint8Array(0) } = settings
  return {
    acks,
    timeoutMs: 1000,
    topicData: [{ name, topicId: '00000000-0000-0000-0000-000000000000', partitionData: [{ index: 0, records }] }],
  }
}

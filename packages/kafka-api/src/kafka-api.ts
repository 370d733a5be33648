import { ByteReader } from '@pico/binary'
import {
  apiVersions,
  CodecError,
  encodeResponse,
  kafkaErrorOf,
  type RequestHeader,
  readRequestHeader,
  saslAuthenticate,
  saslHandshake,
} from '@pico/kafka-codec'
import { noSchemas, type SchemaJudge } from '@pico/schema-registry'
import type { Streams } from '@pico/streams'
import type { Clock } from './clock.ts'
import type { Cluster, Dependencies, KafkaApiSettings } from './dependencies.ts'
import { type Explain, explainer } from './explainer.ts'
import { GroupHost } from './groups/group-host.ts'
import { type GroupReader, groupReader } from './groups/group-reader.ts'
import {
  type AnswerFrame,
  type Handler,
  type KafkaClient,
  Ordered,
  type RequestContext,
  type RequestEdge,
  type Started,
  Unanswered,
} from './handler.ts'
import { alterConfigsHandler } from './handlers/alter-configs.ts'
import { apiVersionsHandler, unsupportedApiVersions } from './handlers/api-versions.ts'
import { createPartitionsHandler } from './handlers/create-partitions.ts'
import { createTopicsHandler } from './handlers/create-topics.ts'
import { deleteGroupsHandler } from './handlers/delete-groups.ts'
import { deleteRecordsHandler } from './handlers/delete-records.ts'
import { deleteTopicsHandler } from './handlers/delete-topics.ts'
import { describeClusterHandler } from './handlers/describe-cluster.ts'
import { describeConfigsHandler } from './handlers/describe-configs.ts'
import { describeGroupsHandler } from './handlers/describe-groups.ts'
import { describeLogDirsHandler } from './handlers/describe-log-dirs.ts'
import { describeProducersHandler } from './handlers/describe-producers.ts'
import { describeTopicPartitionsHandler } from './handlers/describe-topic-partitions.ts'
import { fetchHandler } from './handlers/fetch.ts'
import { findCoordinatorHandler } from './handlers/find-coordinator.ts'
import { heartbeatHandler } from './handlers/heartbeat.ts'
import { incrementalAlterConfigsHandler } from './handlers/incremental-alter-configs.ts'
import { initProducerIdHandler } from './handlers/init-producer-id.ts'
import { joinGroupHandler } from './handlers/join-group.ts'
import { leaveGroupHandler } from './handlers/leave-group.ts'
import { listGroupsHandler } from './handlers/list-groups.ts'
import { listOffsetsHandler } from './handlers/list-offsets.ts'
import { listPartitionReassignmentsHandler } from './handlers/list-partition-reassignments.ts'
import { metadataHandler } from './handlers/metadata.ts'
import { offsetCommitHandler } from './handlers/offset-commit.ts'
import { offsetDeleteHandler } from './handlers/offset-delete.ts'
import { offsetFetchHandler } from './handlers/offset-fetch.ts'
import { offsetForLeaderEpochHandler } from './handlers/offset-for-leader-epoch.ts'
import { produceHandler } from './handlers/produce.ts'
import { syncGroupHandler } from './handlers/sync-group.ts'
import { type KafkaObserver, type Logger, silentObserver } from './observer.ts'

export interface KafkaApiComponents {
  readonly streams: Streams
  /** Of the schemas that topics can be bound to; default: there are none. */
  readonly schemas?: SchemaJudge
  readonly cluster: Cluster
  readonly clock: Clock
  readonly log: Logger
  readonly observer?: Pick<KafkaObserver, 'errorAnswered'>
}

/** Why a request cannot be taken: there is no way to answer it, so its connection must end (kafka-compat 2.1). */
export interface Refused {
  readonly refused: string
  /** An operator should know, since the client cannot be told: a warning in the log. */
  readonly isWarning?: true
}

/** A request whose header was read and whose API and version are served. */
export interface AcceptedRequest {
  readonly refused?: never
  readonly handler: Handler
  readonly context: RequestContext
  /** Decodes the body and starts the request. The frame is borrowed until it returns. */
  start(): (Started & { readonly refused?: never }) | Refused
}

/** What a listener needs: it takes requests, and groups are none of its business. */
export type RequestTaker = Omit<KafkaApi, 'groups'>

export interface KafkaApi {
  /** What is served: the truth that ApiVersions tells and COMPATIBILITY.md documents. */
  readonly served: readonly Pick<Handler, 'key' | 'name' | 'versions'>[]
  /** Reads the header of a request (a frame without its length prefix). */
  accept(frame: Uint8Array, client: KafkaClient): AcceptedRequest | Refused
  /**
   * One request from beginning to end, for use without a socket: the answer's bytes with their length prefix, null when the
   * request gets none. @throws KafkaRequestRefusedError where a connection would be closed.
   */
  handle(frame: Uint8Array, client: KafkaClient): Promise<Uint8Array | null>
  /** See Streams: while there is no room, requests that bring records are not started. */
  hasRoom(): boolean
  whenRoom(): Promise<void>
  /** Pictures of the groups coordinated here, for operators. */
  readonly groups: GroupReader
  /** Answers what waits for data or for other members of a group at once, now and from now on. */
  drain(): void
}

export class KafkaRequestRefusedError extends Error {
  readonly code = 'PICO_KAFKA_REQUEST_REFUSED'
  override readonly name = 'KafkaRequestRefusedError'
}

export function createKafkaApi(components: KafkaApiComponents, settings: KafkaApiSettings): KafkaApi {
  const { streams, schemas = noSchemas, cluster, clock, log, observer } = components
  const explain = explainer(clock, log)
  const drainer = new AbortController()
  const groups = new GroupHost({ streams, clock, explain }, settings.groups)
  const dependencies: Dependencies = {
    streams,
    groups,
    schemas,
    cluster,
    clock,
    log,
    settings,
    draining: drainer.signal,
    explain,
  }
  const handlers: readonly Handler[] = [
    produceHandler(dependencies),
    fetchHandler(dependencies),
    listOffsetsHandler(dependencies),
    metadataHandler(dependencies),
    offsetCommitHandler(dependencies),
    offsetFetchHandler(dependencies),
    findCoordinatorHandler(dependencies),
    joinGroupHandler(dependencies),
    heartbeatHandler(dependencies),
    leaveGroupHandler(dependencies),
    syncGroupHandler(dependencies),
    describeGroupsHandler(dependencies),
    listGroupsHandler(dependencies),
    apiVersionsHandler(() => handlers),
    createTopicsHandler(dependencies),
    deleteTopicsHandler(dependencies),
    deleteRecordsHandler(dependencies),
    initProducerIdHandler(dependencies),
    offsetForLeaderEpochHandler(dependencies),
    describeConfigsHandler(dependencies),
    alterConfigsHandler(dependencies),
    describeLogDirsHandler(dependencies),
    createPartitionsHandler(dependencies),
    deleteGroupsHandler(dependencies),
    incrementalAlterConfigsHandler(dependencies),
    listPartitionReassignmentsHandler(),
    offsetDeleteHandler(dependencies),
    describeClusterHandler(dependencies),
    describeProducersHandler(dependencies),
    describeTopicPartitionsHandler(dependencies),
  ]
  return {
    ...kafkaApiOf(handlers, explain, observer),
    groups: groupReader(groups),
    hasRoom: () => streams.hasRoom(),
    whenRoom: () => streams.whenRoom(),
    drain() {
      drainer.abort()
      groups.drain()
    },
  }
}

const sasl: ReadonlySet<number> = new Set([saslHandshake.key, saslAuthenticate.key])
const saslRefusal =
  'the client wants to authenticate by SASL, which is not offered: give it security.protocol=PLAINTEXT, or SSL where TLS is served'

/** Finds the handler of a request among those. */
export function kafkaApiOf(
  handlers: readonly Handler[],
  explain: Explain,
  observer: Pick<KafkaObserver, 'errorAnswered'> = silentObserver,
): Pick<KafkaApi, 'served' | 'accept' | 'handle'> {
  const byKey = new Map(handlers.map((handler) => [handler.key, handler]))
  const edge: RequestEdge = {
    explain: (error) => explain(error, 'manage'),
    errorAnswered: (apiName, errorCode) =>
      observer.errorAnswered(apiName, kafkaErrorOf(errorCode)?.name ?? 'UNKNOWN_SERVER_ERROR'),
  }

  function accept(frame: Uint8Array, client: KafkaClient): AcceptedRequest | Refused {
    const body = new ByteReader(frame)
    let header: RequestHeader
    try {
      header = readRequestHeader(body)
    } catch (error) {
      return refusalOf(error)
    }
    const { apiKey, apiVersion, correlationId, clientId } = header
    const handler = byKey.get(apiKey)
    if (handler === undefined) {
      return sasl.has(apiKey)
        ? { refused: saslRefusal, isWarning: true }
        : { refused: `API key ${apiKey} is not served` }
    }
    const context: RequestContext = { apiVersion, correlationId, clientId, client, answerSent: null }
    const [first, last] = handler.versions
    if (apiVersion < first || apiVersion > last) {
      if (apiKey === apiVersions.key) return { handler, context, start: () => answerUnsupported(correlationId) }
      return { refused: `${handler.name} version ${apiVersion} is not served` }
    }
    const start = () => {
      try {
        return handler.start(handler.appends ? body : copyOfRest(body), context, edge)
      } catch (error) {
        return refusalOf(error)
      }
    }
    return { handler, context, start }
  }

  function answerUnsupported(correlationId: number): Started {
    return new Ordered<AnswerFrame>(
      null,
      encodeResponse(apiVersions, 0, { correlationId }, unsupportedApiVersions(handlers)),
    )
  }

  async function handle(frame: Uint8Array, client: KafkaClient): Promise<Uint8Array | null> {
    const request = accept(frame, client)
    if (request.refused !== undefined) throw new KafkaRequestRefusedError(request.refused)
    const started = request.start()
    if (started.refused !== undefined) throw new KafkaRequestRefusedError(started.refused)
    if (!(started.response instanceof Unanswered)) return Buffer.concat(await started.response)
    const failure = await started.response.outcome
    if (failure !== null) throw new KafkaRequestRefusedError(failure)
    return null
  }

  return { served: handlers, accept, handle }
}

/** Requests without records are small, and some of what is in them is kept. */
function copyOfRest(body: ByteReader): ByteReader {
  return new ByteReader(Buffer.from(body.take(body.remaining)))
}

/** Only what the peer sent can be refused; anything else is a bug and must not look like garbage. */
function refusalOf(error: unknown): Refused {
  if (error instanceof CodecError) return { refused: error.message }
  throw error
}

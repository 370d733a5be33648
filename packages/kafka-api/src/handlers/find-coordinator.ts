import { type FindCoordinatorRequest, findCoordinator, kafkaErrors, type ResponseInput } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { groupStreamName } from '../groups/stream-names.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * FindCoordinator 0-5 (kafka-compat 2.8): a group is coordinated by the node that owns its stream, or is to make it. v1: kinds of keys
 * and a message. v4: many keys in one request (KIP-699).
 * Left out: transactions, refused with an error that every client treats as final; share groups, which are v6.
 */

const firstWithManyKeys = 4
const keyTypes = { group: 0, transaction: 1 } as const

type Coordinator = Omit<NonNullable<ResponseInput<typeof findCoordinator>['coordinators']>[number], 'key'>

export function findCoordinatorHandler({ streams, cluster, draining, explain }: Dependencies): Handler {
  return handler({
    api: findCoordinator,
    versions: [0, 5],
    async handle(request, { apiVersion }) {
      const keys = keysOf(request, apiVersion)
      const coordinators = await Promise.all(keys.map((key) => coordinatorOf(key, request.keyType)))
      return respond(keys, apiVersion, coordinators)
    },
    fail(request, errorCode, { apiVersion }) {
      const keys = keysOf(request, apiVersion)
      const coordinators = keys.map(() => refused(errorCode, null))
      return respond(keys, apiVersion, coordinators)
    },
  })

  async function coordinatorOf(key: string, keyType: number): Promise<Coordinator> {
    if (keyType === keyTypes.transaction) {
      return refused(kafkaErrors.transactionalIdAuthorizationFailed.code, 'Transactions are not supported.')
    }
    if (keyType !== keyTypes.group) {
      return refused(kafkaErrors.invalidRequest.code, `There are no coordinators for key type ${keyType}.`)
    }
    if (draining.aborted) return refused(kafkaErrors.coordinatorNotAvailable.code, null)
    try {
      const streamName = groupStreamName(key)
      // A group that cannot be is refused by whoever is asked for it.
      const ownerId = streamName === null ? streams.nodeId : await streams.internal.ownerOf(streamName)
      const owner = cluster.brokers().find(({ nodeId }) => nodeId === ownerId)
      if (owner === undefined) return refused(kafkaErrors.coordinatorNotAvailable.code, null)
      const { nodeId, host, port } = owner
      return { nodeId, host, port, errorCode: kafkaErrors.none.code, errorMessage: null }
    } catch (error) {
      return refused(explain(error, 'coordinate'), null)
    }
  }
}

/** What the answer has for one key, and leaves out where there may be many. */
const notAnswered = { nodeId: 0, host: '', port: 0, errorCode: 0, errorMessage: null } as const

function refused(errorCode: number, errorMessage: string | null): Coordinator {
  return { nodeId: -1, host: '', port: -1, errorCode, errorMessage }
}

function keysOf({ key, coordinatorKeys }: FindCoordinatorRequest, apiVersion: number): readonly string[] {
  return apiVersion < firstWithManyKeys ? [key] : coordinatorKeys
}

function respond(keys: readonly string[], apiVersion: number, coordinators: readonly Coordinator[]) {
  const [first = refused(kafkaErrors.coordinatorNotAvailable.code, null)] = coordinators
  if (apiVersion < firstWithManyKeys) return { throttleTimeMs: 0, ...first, coordinators: [] }
  const answers = coordinators.map((coordinator, at) => ({ key: keys[at] ?? '', ...coordinator }))
  return { throttleTimeMs: 0, ...notAnswered, coordinators: answers }
}

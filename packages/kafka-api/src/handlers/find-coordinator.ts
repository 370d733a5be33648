import { findCoordinator, kafkaErrors, type ResponseInput } from '@pico/kafka-codec'
import type { Dependencies } from '../dependencies.ts'
import { type Handler, handler } from '../handler.ts'

/*
 * FindCoordinator 0-5 (kafka-compat 2.8): a group is coordinated by the node that owns its stream, which is this one. v1: kinds of keys
 * and a message. v4: many keys in one request (KIP-699).
 * Left out: transactions, refused with an error that every client treats as final; share groups, which are v6.
 */

const firstWithManyKeys = 4
const keyTypes = { group: 0, transaction: 1 } as const

type Coordinator = Omit<NonNullable<ResponseInput<typeof findCoordinator>['coordinators']>[number], 'key'>

export function findCoordinatorHandler({ streams, cluster, draining }: Dependencies): Handler {
  return handler({
    api: findCoordinator,
    versions: [0, 5],
    handle: ({ keyType, coordinatorKeys }, { apiVersion }) =>
      respond(coordinatorKeys, apiVersion, coordinatorOf(keyType)),
    fail: ({ coordinatorKeys }, errorCode, { apiVersion }) =>
      respond(coordinatorKeys, apiVersion, refused(errorCode, null)),
  })

  function coordinatorOf(keyType: number): Coordinator {
    if (keyType === keyTypes.transaction) {
      return refused(kafkaErrors.transactionalIdAuthorizationFailed.code, 'Transactions are not supported.')
    }
    if (keyType !== keyTypes.group) {
      return refused(kafkaErrors.invalidRequest.code, `There are no coordinators for key type ${keyType}.`)
    }
    const owner = draining.aborted ? undefined : cluster.brokers().find(({ nodeId }) => nodeId === streams.nodeId)
    if (owner === undefined) return refused(kafkaErrors.coordinatorNotAvailable.code, null)
    const { nodeId, host, port } = owner
    return { nodeId, host, port, errorCode: kafkaErrors.none.code, errorMessage: null }
  }
}

/** What the answer has for one key, and leaves out where there may be many. */
const notAnswered = { nodeId: 0, host: '', port: 0, errorCode: 0, errorMessage: null } as const

function refused(errorCode: number, errorMessage: string | null): Coordinator {
  return { nodeId: -1, host: '', port: -1, errorCode, errorMessage }
}

function respond(keys: readonly string[], apiVersion: number, coordinator: Coordinator) {
  if (apiVersion < firstWithManyKeys) return { throttleTimeMs: 0, ...coordinator, coordinators: [] }
  return { throttleTimeMs: 0, ...notAnswered, coordinators: keys.map((key) => ({ key, ...coordinator })) }
}

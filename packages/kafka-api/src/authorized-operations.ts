/**
 * What a client may do, as bits numbered by Kafka's AclOperation. There are no access rules: everything that applies to the
 * resource, as a Kafka without an authorizer answers.
 */
const operation = {
  read: 3,
  write: 4,
  create: 5,
  delete: 6,
  alter: 7,
  describe: 8,
  clusterAction: 9,
  describeConfigs: 10,
  alterConfigs: 11,
  idempotentWrite: 12,
} as const

type Operation = keyof typeof operation

function bits(...operations: readonly Operation[]): number {
  return operations.reduce((mask, name) => mask | (1 << operation[name]), 0)
}

/** Says that nobody asked. */
export const operationsNotAsked = -2147483648

export const allTopicOperations = bits(
  'read',
  'write',
  'create',
  'delete',
  'alter',
  'describe',
  'describeConfigs',
  'alterConfigs',
)

export const allGroupOperations = bits('read', 'delete', 'describe', 'describeConfigs', 'alterConfigs')

export const allClusterOperations = bits(
  'create',
  'alter',
  'describe',
  'clusterAction',
  'describeConfigs',
  'alterConfigs',
  'idempotentWrite',
)

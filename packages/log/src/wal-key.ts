import type { NodeIdentity } from '@pico/metadata'

/** All WAL objects and segments. */
export const walPrefix = 'wal/'

/** `wal/{node}/{epoch}/{name}`, fixed width, so that listing sorts. */
export function walKey(node: NodeIdentity, sequence: number): string {
  return `${walNodePrefix(node.nodeId)}${pad(node.nodeEpoch, 10)}/${pad(sequence, 16)}`
}

export function walNodePrefix(nodeId: number): string {
  return `${walPrefix}${pad(nodeId, 10)}/`
}

/** `data/{objectId}`. */
export function dataKey(objectId: number): string {
  return `data/${pad(objectId, 16)}`
}

function pad(value: number, width: number): string {
  return String(value).padStart(width, '0')
}

import type { PathStreams, Streams } from '@pico/streams'
import type { Directory } from './directory.ts'
import type { GroupView } from './group-view.ts'

/** What the admin API shows and changes, once the server has started. */
export interface AdminBackend {
  /** This run of this node. */
  readonly node: { readonly nodeId: number; readonly nodeEpoch: number }
  readonly streams: Pick<Streams, 'clusterId' | 'partition'> & {
    readonly paths: Pick<PathStreams, 'describe' | 'list'>
  }
  readonly directory: Directory
  /** Where others reach this node's streams over HTTP; null when it serves none. */
  readonly advertisedAddress: string | null
  /** Where Kafka clients do. */
  readonly kafkaAddress: string | null
  /** Null when no Kafka clients are served: then nobody coordinates groups. */
  readonly groups: GroupView | null
  /** This process has the database for itself: it need not say that it is alive, and does the maintenance without a lease. */
  readonly isAlone: boolean
  /** This run may not go on. */
  isFenced(): boolean
}

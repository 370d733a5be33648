import type { AdminCluster, AdminNode } from '@pico/http-contract'
import type { PathStreams, Streams } from '@pico/streams'
import type { GroupView } from './group-view.ts'

/** What the admin API shows, once the server has started. */
export interface AdminBackend {
  readonly streams: Pick<Streams, 'nodeId' | 'partition'> & { readonly paths: Pick<PathStreams, 'describe' | 'list'> }
  /** Where others reach this node's streams over HTTP; null when it serves none. */
  readonly advertisedAddress: string | null
  /** Null when no Kafka clients are served: then nobody coordinates groups. */
  readonly groups: GroupView | null
  cluster(): Promise<AdminCluster>
  nodes(): Promise<readonly AdminNode[]>
}

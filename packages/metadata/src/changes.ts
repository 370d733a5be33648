/** `topics`: what `Changes.since` tells. `transfers`: one was requested. `nodes`: one registered, was fenced or got other slots. */
export type ChangeKind = 'topics' | 'transfers' | 'nodes'

/**
 * What others changed, for whoever keeps what it has read. Watching is quick and may miss something; asking since a cursor misses
 * nothing, and costs next to nothing while nothing happens.
 */
export interface Changes {
  /**
   * Topics, and streams that only HTTP knows (each has a topic id), whose settings or number of partitions changed or that were deleted,
   * by anybody, in transactions that were not seen to be committed when `cursor` was given out; some may be told again. With null:
   * nothing but a cursor as of now. 'too-old' when what happened since is not known any more, or is so much that forgetting all
   * that was kept is less work.
   */
  since(cursor: string | null): Promise<{ cursor: string; topicIds: readonly string[] | 'too-old' }>
  /**
   * Calls back soon after somebody, also another process, committed a change of that kind. May call for nothing and may miss: whoever
   * must know asks from time to time. The callback must not throw. The function returned ends it; so does closing.
   */
  watch(onChange: (kind: ChangeKind) => void): () => void
  /** Forgets what was recorded longer ago, by the database's clock. Returns how many records. */
  forget(olderThanMs: number): Promise<number>
}

import type { GroupRecord, GroupRequest, GroupState, Reply } from '../../src/index.ts'
import { promise } from './promises.ts'

/**
 * The consumers of this world fetch what is committed when they are given a partition and commit only what they have
 * read since. So in every log that the coordinator lets come about, the offset of a partition never goes back; and
 * what was acknowledged is what every later fetch finds, whoever coordinates.
 */
export class CommitPromises {
  readonly #durable = new Map<number, number>()
  readonly #acknowledged = new Map<number, number>()
  /** By fetch: what had been acknowledged when it arrived. */
  readonly #expected = new Map<number, ReadonlyMap<number, number>>()
  commits = 0

  becameDurable(records: readonly GroupRecord[]): void {
    for (const record of records) {
      if (record.kind !== 'offsetCommit') continue
      const before = this.#durable.get(record.partition) ?? -1
      promise(
        record.offset >= before,
        `commits never go back: partition ${record.partition} from ${before} to ${record.offset}`,
      )
      this.#durable.set(record.partition, record.offset)
    }
  }

  loaded(state: GroupState): void {
    for (const [partition, offset] of this.#durable) {
      const found = state.offsets.get('t')?.get(partition)?.offset
      promise(
        found === offset,
        `a new coordinator knows what is durable: partition ${partition} at ${offset}, not ${found}`,
      )
    }
  }

  fetchArrived(requestToken: number): void {
    this.#expected.set(requestToken, new Map(this.#acknowledged))
  }

  replied(request: GroupRequest, reply: Reply): void {
    if (request.kind === 'offsetCommit' && reply.kind === 'offsetCommit') {
      for (const { partition, offset } of request.topics.flatMap(({ partitions }) => partitions)) {
        const answers = reply.response.topics.flatMap(({ partitions }) => partitions)
        const errorCode = answers.find((answer) => answer.partition === partition)?.errorCode
        promise(errorCode !== undefined, 'a commit is answered for each of its partitions')
        if (errorCode !== 0) continue
        promise((this.#durable.get(partition) ?? -1) >= offset, 'a commit is acknowledged when it is durable')
        this.#acknowledged.set(partition, Math.max(offset, this.#acknowledged.get(partition) ?? -1))
        this.commits++
      }
    }
    if (reply.kind === 'offsetFetch' && reply.response.errorCode === 0) {
      for (const { partition, offset } of reply.response.topics.flatMap(({ partitions }) => partitions)) {
        const expected = this.#expected.get(reply.requestToken)?.get(partition) ?? -1
        promise(
          offset >= expected,
          `a fetch finds what was acknowledged: partition ${partition} at ${offset} < ${expected}`,
        )
      }
    }
    this.#expected.delete(reply.requestToken)
  }
}

import { commits } from './commits.ts'
import { heartbeats } from './heartbeats.ts'
import type { GroupLoadSpec } from './load.ts'
import { rebalance } from './rebalance.ts'

/** A program: puts the load that its argument describes on a broker, and prints the report of that kind of load. */
const load: GroupLoadSpec = JSON.parse(process.argv[2] ?? '')

async function reportOf(load: GroupLoadSpec) {
  switch (load.kind) {
    case 'heartbeats':
      return heartbeats(load)
    case 'rebalance':
      return rebalance(load)
    case 'commits':
      return commits(load)
  }
}

console.log(JSON.stringify(await reportOf(load)))
process.exit(0)

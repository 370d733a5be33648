import { fileURLToPath } from 'node:url'
import type { ProcessExit, ProcessSettings } from '../child-process.ts'
import { pythonTools } from '../toolchain.ts'
import { propertiesOf, pythonProgram, shortSessionTimeoutMs, startPrinting } from './member.ts'
import { goTools, javaGroupMember } from './member-programs.ts'
import { type MemberReport, parseReport } from './member-report.ts'

/** A member of a consumer group in a process of its own, which says what it does. */
export interface RollingMember {
  /** `java-range/2`: its place, which the one that replaces it takes. */
  readonly name: string
  readonly reports: readonly MemberReport[]
  /** SIGTERM: it commits and leaves, a static member only commits. */
  stop(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
  /** The end of what it and its client printed. */
  output(): string
  /** Undefined while it runs. */
  exit(): ProcessExit | undefined
}

export interface Seat {
  readonly bootstrap: string
  readonly groupId: string
  readonly topic: string
  /** Which of the members of the group. */
  readonly place: number
}

export interface RollingKind {
  readonly name: string
  /** Fails when what it runs on is missing. */
  readonly tool: () => Promise<unknown>
  /** A member that comes back in its session costs no rebalance (KIP-345). */
  readonly isStatic: boolean
  readonly program: (seat: Seat) => Promise<Omit<ProcessSettings, 'name'>>
}

/** The Java client waits half a minute for a broker that is away, to commit once more. */
const patienceMs = 90_000

export async function startRollingMember(kind: RollingKind, seat: Seat): Promise<RollingMember> {
  const name = `${kind.name}/${seat.place}`
  const reports: MemberReport[] = []
  const running = await startPrinting({ name, ...(await kind.program(seat)) }, (line) =>
    reports.push(parseReport(line)),
  )
  return {
    name,
    reports,
    async stop() {
      const { forced } = await running.stop(patienceMs)
      if (forced) throw new Error(`${name} did not end on SIGTERM:\n${running.output().slice(-4000)}`)
    },
    async kill() {
      await running.kill()
    },
    output: () => running.output(),
    exit: () => running.exit(),
  }
}

const kafkajsProgram = fileURLToPath(new URL('kafkajs-member.ts', import.meta.url))
const reconnects = ['reconnect.backoff.ms=100', 'reconnect.backoff.max.ms=1000']

/** Longer than the start of a program on a busy machine. */
const staticSessionTimeoutMs = 40_000

function javaKind(name: string, assignor: string, isStatic = false): RollingKind {
  return {
    name,
    tool: javaGroupMember,
    isStatic,
    async program(seat) {
      const still = [`group.instance.id=place-${seat.place}`, `session.timeout.ms=${staticSessionTimeoutMs}`]
      const properties = [
        ...propertiesOf(seat),
        ...reconnects,
        `partition.assignment.strategy=org.apache.kafka.clients.consumer.${assignor}`,
        ...(isStatic ? still : []),
      ]
      return { command: 'java', args: [...(await javaGroupMember()), seat.topic, ...properties] }
    },
  }
}

export const rollingKinds: readonly RollingKind[] = [
  javaKind('java-range', 'RangeAssignor'),
  javaKind('java-sticky', 'StickyAssignor'),
  javaKind('java-cooperative', 'CooperativeStickyAssignor'),
  javaKind('java-static', 'CooperativeStickyAssignor', true),
  {
    name: 'kafkajs',
    tool: async () => undefined,
    isStatic: false,
    async program({ bootstrap, groupId, topic }) {
      const args = [kafkajsProgram, bootstrap, groupId, topic, `${shortSessionTimeoutMs}`]
      return { command: process.execPath, args }
    },
  },
  {
    name: 'confluent-kafka',
    tool: pythonTools,
    isStatic: false,
    async program(seat) {
      const { python } = await pythonTools()
      const assignor = 'partition.assignment.strategy=cooperative-sticky'
      const args = [pythonProgram('group_member.py'), seat.topic, ...propertiesOf(seat), ...reconnects, assignor]
      return { command: python, args }
    },
  },
  {
    name: 'aiokafka',
    tool: pythonTools,
    isStatic: false,
    async program({ bootstrap, groupId, topic }) {
      const { python } = await pythonTools()
      const settings = [
        `bootstrap_servers=${bootstrap}`,
        `group_id=${groupId}`,
        `session_timeout_ms=${shortSessionTimeoutMs}`,
        'heartbeat_interval_ms=500',
      ]
      return { command: python, args: [pythonProgram('aiokafka_member.py'), topic, ...settings] }
    },
  },
  {
    name: 'franz-go',
    tool: goTools,
    isStatic: false,
    async program({ bootstrap, groupId, topic }) {
      const { groupMember } = await goTools()
      return { command: groupMember, args: [bootstrap, groupId, topic, `${shortSessionTimeoutMs}`] }
    },
  },
]

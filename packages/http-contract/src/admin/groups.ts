import { z } from 'zod'
import { decimalInteger } from '../integers.ts'

const count = z.number().int().nonnegative()

/** As Kafka spells them. */
export const groupStates = ['Empty', 'PreparingRebalance', 'CompletingRebalance', 'Stable'] as const
const groupState = z.enum(groupStates)

export const adminGroupSummarySchema = z.object({
  groupId: z.string(),
  /** Null where its coordinator cannot say now: see `problem`. */
  state: groupState.nullable(),
  /** `consumer`, `connect`, …; empty where there are only offsets. */
  protocolType: z.string(),
  /** Kafka's name for why the coordinator cannot say. */
  problem: z.string().nullable(),
})

/** `GET /admin/groups`. */
export const adminGroupsSchema = z.object({
  groups: z.array(adminGroupSummarySchema),
  hasMore: z.boolean(),
  /** What to give as `start_after` to go on; null at the end. */
  next: z.string().nullable(),
})

export const adminGroupMemberSchema = z.object({
  memberId: z.string(),
  /** Of a static member (KIP-345). */
  groupInstanceId: z.string().nullable(),
  clientId: z.string(),
  /** As Kafka prints it: `/127.0.0.1`. */
  clientHost: z.string(),
  /** What it was given last; null for members that do not speak the consumer protocol. */
  assignment: z.array(z.object({ topic: z.string(), partitions: z.array(count) })).nullable(),
})

export const adminGroupOffsetSchema = z.object({
  topic: z.string(),
  partition: count,
  /** Where the group goes on. */
  committedOffset: count,
  /** Text that the consumer left with it. */
  metadata: z.string(),
  /** End of the partition; null when it is gone, or another node has it. */
  endOffset: count.nullable(),
  /** Records between; null where the end is unknown. */
  lag: count.nullable(),
})

/** `GET /admin/groups/{id}`. */
export const adminGroupSchema = z.object({
  groupId: z.string(),
  state: groupState,
  protocolType: z.string(),
  /** The assignor, while the group is Stable. */
  protocolName: z.string(),
  generationId: count,
  members: z.array(adminGroupMemberSchema),
  offsets: z.array(adminGroupOffsetSchema),
  /** Sum over the offsets whose lag is known. */
  totalLag: count,
})

/** `GET /admin/groups?…`. */
export const adminGroupsQuerySchema = z.object({
  /** Only those that come after this one. */
  start_after: z.string().max(1024).optional(),
  limit: decimalInteger
    .refine((limit) => limit > 0, 'is not positive')
    .refine((limit) => limit <= 1000, 'is more than 1000')
    .default(100),
})

export type AdminGroupSummary = z.infer<typeof adminGroupSummarySchema>
export type AdminGroups = z.infer<typeof adminGroupsSchema>
export type AdminGroupMember = z.infer<typeof adminGroupMemberSchema>
export type AdminGroupOffset = z.infer<typeof adminGroupOffsetSchema>
export type AdminGroup = z.infer<typeof adminGroupSchema>

import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from '../../cluster/cluster.ts'
import type { ClusterNode } from '../../cluster/cluster-node.ts'
import { httpCall } from '../../cross/http-call.ts'
import { ConnectionLostError } from '../../raw-kafka.ts'

const contentType = 'application/octet-stream'
const attemptsMax = 100

export function streamNames(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index.toString().padStart(6, '0')}`)
}

/** Makes streams over HTTP, with one record each where there is a body, by all nodes in turn. Redirects are followed. */
export async function createStreams(
  cluster: Cluster,
  names: readonly string[],
  { body = '', connections = 256 }: { readonly body?: string; readonly connections?: number } = {},
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const urls = cluster.nodes.map(({ httpUrl }) => httpUrl)
  await concurrently(names, connections, async (name, index) => {
    let url = urls[index % urls.length] ?? ''
    for (let attempt = 1; ; attempt++) {
      const call = { method: 'PUT', target: `/${name}`, headers: { 'Content-Type': contentType }, body, agent }
      const answer = await httpCall(url, call).catch((error: unknown) => {
        if (error instanceof ConnectionLostError && attempt < attemptsMax) return undefined
        throw error
      })
      if (answer?.status === 201 || (answer?.status === 200 && attempt > 1)) return
      const isPassing = answer === undefined || answer.status === 307 || answer.status === 503
      if (!isPassing || attempt === attemptsMax) throw new Error(`PUT /${name}: ${answer?.status} ${answer?.body}`)
      const location = answer?.headers.location
      url = location === undefined ? (urls[(index + attempt) % urls.length] ?? '') : new URL(location, url).origin
      if (location === undefined) await sleep(100)
    }
  })
  agent.destroy()
}

/** So many at a time, in order of the list. */
export async function concurrently<T>(
  all: readonly T[],
  atOnce: number,
  work: (one: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < all.length) {
      const index = next++
      await work(all[index] as T, index)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker))
}

interface AdminStreamPage {
  readonly streams: readonly { readonly name: string; readonly ownerNodeId: number | null }[]
  readonly next: string | null
}

/** Which node has each stream, by its name without the slash, as the database says. */
export async function ownersOf({ adminUrl }: ClusterNode, prefix: string): Promise<Map<string, number | null>> {
  const owners = new Map<string, number | null>()
  for (let after: string | null = null; ; ) {
    const query = new URLSearchParams({
      prefix: `/${prefix}`,
      limit: '1000',
      ...(after !== null && { start_after: after }),
    })
    const answer = await fetch(`${adminUrl}/admin/streams?${query}`)
    if (answer.status !== 200) throw new Error(`GET /admin/streams: ${answer.status} ${await answer.text()}`)
    const page = (await answer.json()) as AdminStreamPage
    for (const { name, ownerNodeId } of page.streams) owners.set(name.slice(1), ownerNodeId)
    if (page.next === null) return owners
    after = page.next
  }
}

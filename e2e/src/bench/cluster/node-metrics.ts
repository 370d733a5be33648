import type { ClusterNode } from '../../cluster/cluster-node.ts'

/** The sum of all series of one name at all nodes, as their `/metrics` say now. */
export async function metricSum(nodes: readonly ClusterNode[], name: string): Promise<number> {
  let sum = 0
  for (const { adminUrl } of nodes) {
    const answer = await fetch(`${adminUrl}/metrics`)
    const lines = (await answer.text())
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    if (lines.length === 0) throw new Error(`${adminUrl}/metrics says nothing of ${name}`)
    for (const line of lines) sum += Number(line.slice(line.lastIndexOf(' ') + 1))
  }
  return sum
}

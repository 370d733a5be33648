/** The REST API of a Connect worker, as much of it as the test needs. Any worker answers for the whole group. */

export interface ConnectorStatus {
  /** `RUNNING`, `UNASSIGNED`, `FAILED`, …, of the connector and then of its tasks. */
  readonly states: readonly string[]
  /** The worker that has its only task. */
  readonly taskWorker: string | undefined
}

export async function putConnector(
  workerId: string,
  name: string,
  config: Readonly<Record<string, string>>,
): Promise<void> {
  await ask(workerId, `${name}/config`, { method: 'PUT', body: JSON.stringify(config) })
}

export async function connectorStatus(workerId: string, name: string): Promise<ConnectorStatus> {
  const { connector, tasks } = (await ask(workerId, `${name}/status`)) as {
    connector: { state: string }
    tasks: { state: string; worker_id: string }[]
  }
  return { states: [connector, ...tasks].map(({ state }) => state), taskWorker: tasks[0]?.worker_id }
}

/** How far the only partition of a connector's source, or of its sink's topic, is done (KIP-875). */
export async function connectorOffset(workerId: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const { offsets } = (await ask(workerId, `${name}/offsets`)) as { offsets: { offset: Record<string, unknown> }[] }
  return offsets[0]?.offset ?? {}
}

async function ask(workerId: string, path: string, init: RequestInit = {}): Promise<unknown> {
  const url = `http://${workerId}/connectors/${path}`
  const answer = await fetch(url, { ...init, headers: { 'content-type': 'application/json' } })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${init.method ?? 'GET'} ${url}: ${answer.status} ${text.slice(0, 1000)}`)
  return JSON.parse(text)
}

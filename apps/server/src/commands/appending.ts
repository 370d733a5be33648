import { PicoError, type Receipt, type RecordInput } from '@pico/client'
import { CommandFailure } from './command-failure.ts'
import { type ConnectionSettings, durableStreamsClient, picoClient } from './connection.ts'

/** Records on their way to a stream, by either protocol. */
export interface Appending {
  /** Resolves when there is room for more. @throws what kept an earlier one from being appended */
  append(record: RecordInput): Promise<void>
  /** Everything is durable when it resolves. Where the first and the last one are: null when nothing tells, as after a repetition. */
  finish(): Promise<{ readonly first: number | string | null; readonly last: number | string | null }>
  close(): Promise<void>
}

interface AppendingSettings {
  readonly batchRecordsMax: number
  readonly signal: AbortSignal
}

/** A stream or a server that is missing is told before the first record is taken. */
export function openAppending(
  connection: ConnectionSettings,
  name: string,
  settings: AppendingSettings,
): Promise<Appending> {
  return connection.protocol === 'ds' ? openDurable(connection, name, settings) : openPico(connection, name, settings)
}

async function openPico(connection: ConnectionSettings, name: string, settings: AppendingSettings): Promise<Appending> {
  await using first = picoClient(connection, 'first')
  refuseClosed(await first.stream(name).head({ signal: settings.signal }))
  const client = picoClient(connection, 'long')
  const producer = client.stream(name).producer({ ...settings, ...deliveryTimeout(connection) })
  return new ProducerAppending(producer, (record) => producer.append(record), client)
}

/** A record a line feed: the bytes of a Durable Stream have no other borders. Of a JSON stream, each is a message. */
async function openDurable(
  connection: ConnectionSettings,
  name: string,
  settings: AppendingSettings,
): Promise<Appending> {
  await using first = durableStreamsClient(connection, 'first')
  const head = await first.stream(name).head({ signal: settings.signal })
  refuseClosed(head)
  const isJson = /^application\/json\s*(;|$)/i.test(head.contentType)
  const client = durableStreamsClient(connection, 'long')
  const producer = await client.stream(name).producer({ ...settings, ...deliveryTimeout(connection) })
  const append = (record: RecordInput) => {
    if (typeof record !== 'string' && !(record instanceof Uint8Array))
      throw new TypeError('records have no fields here')
    return producer.append(isJson ? record : Buffer.concat([Buffer.from(record), lineFeed]))
  }
  return new ProducerAppending(producer, append, client)
}

const lineFeed = Buffer.from('\n')

function refuseClosed({ name, closed }: { readonly name: string; readonly closed: boolean }): void {
  if (closed) throw new CommandFailure(`${name} is closed: nothing is appended any more`)
}

function deliveryTimeout({ retrySeconds }: ConnectionSettings): { deliveryTimeoutMs?: number } {
  return retrySeconds === undefined ? {} : { deliveryTimeoutMs: retrySeconds * 1000 }
}

type AnyReceipt = Receipt<number | string>

class ProducerAppending implements Appending {
  readonly #producer: { close(): Promise<void> }
  readonly #append: (record: RecordInput) => Promise<AnyReceipt>
  readonly #client: { close(): Promise<void> }
  #first: AnyReceipt | null = null
  #last: AnyReceipt | null = null
  #count = 0
  #failure: unknown = null

  constructor(
    producer: { close(): Promise<void> },
    append: (record: RecordInput) => Promise<AnyReceipt>,
    client: { close(): Promise<void> },
  ) {
    this.#producer = producer
    this.#append = append
    this.#client = client
  }

  async append(record: RecordInput): Promise<void> {
    if (this.#failure !== null) throw this.#failure
    const receipt = await this.#append(record)
    const number = ++this.#count
    this.#first ??= receipt
    this.#last = receipt
    receipt.acknowledged.catch((error: unknown) => {
      this.#failure ??= error instanceof PicoError ? new CommandFailure(`record ${number}: ${error.message}`) : error
    })
  }

  async finish() {
    try {
      await this.#producer.close()
    } catch (error) {
      throw this.#failure ?? error
    }
    return { first: (await this.#first?.acknowledged) ?? null, last: (await this.#last?.acknowledged) ?? null }
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}

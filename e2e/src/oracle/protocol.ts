import { setTimeout as sleep } from 'node:timers/promises'
import { apiVersions, encodeRequest, initProducerId, kafkaErrors, metadata } from '@pico/kafka-codec'
import { connectRaw } from '../raw-kafka.ts'
import { connectionClosed, errorText, noAnswer, type Scenario, type Session } from './session.ts'

/** InitProducerId, ApiVersions, and what is not a request at all (kafka-compat 2.1, 2.3). */
export const protocol: readonly Scenario[] = [
  {
    name: 'InitProducerId',
    async run(session) {
      const ids = new Set<bigint>()
      for (let version = 0; version <= 5; version++) {
        await session.note(`version ${version}`, async () => {
          const { producerId, answer } = await initialize(session, { version })
          ids.add(producerId)
          return answer
        })
      }
      await session.note('ids given', async () => ids.size)
      const step = (title: string, question: InitQuestion) =>
        session.note(title, async () => (await initialize(session, question)).answer)
      await step('an id and an epoch', { producerId: 5n, producerEpoch: 3 })
      await step('an id without epoch', { producerId: 5n, producerEpoch: -1 })
      await step('an epoch without id', { producerId: -1n, producerEpoch: 3 })
      await step('an empty transactional id', { transactionalId: '' })
      await step('an empty transactional id, version 0', { transactionalId: '', version: 0 })
      await step('a timeout of zero', { transactionTimeoutMs: 0 })
      await step('a negative timeout', { transactionTimeoutMs: -1 })
    },
  },
  {
    name: 'producer ids are never given twice',
    async run(session) {
      await session.makeTopic()
      const ids = new Set<bigint>()
      for (const how of ['stop', 'kill'] as const) {
        for (let index = 0; index < 5; index++) ids.add(await session.newProducerId())
        await session.restart(how)
      }
      for (let index = 0; index < 5; index++) ids.add(await session.newProducerId())
      await session.note('different ids', async () => ids.size)
    },
  },
  {
    name: 'InitProducerId with a transactional id',
    async run(session) {
      await session.note('error', async () => {
        const { answer } = await initialize(session, { transactionalId: `${session.topic}-tx` })
        return answer.error
      })
    },
  },
  {
    name: 'ApiVersions',
    async run(session) {
      for (let version = 0; version <= 4; version++) {
        await session.note(`version ${version}`, async () => {
          const connection = await session.connection()
          const answer = await connection.ask(apiVersions, version, {
            clientSoftwareName: 'e2e',
            clientSoftwareVersion: '1',
          })
          const self = answer.apiKeys.find(({ apiKey }) => apiKey === apiVersions.key)
          return { error: errorText(answer.errorCode), self: self !== undefined && self.maxVersion >= 4 }
        })
      }
      const named = (title: string, clientSoftwareName: string, clientSoftwareVersion: string) =>
        session.note(title, async () => {
          const connection = await session.connection()
          const answer = await connection.ask(apiVersions, 3, { clientSoftwareName, clientSoftwareVersion })
          return errorText(answer.errorCode)
        })
      await named('software name with a space', 'e 2 e', '1')
      await named('software name ends with a dot', 'e2e.', '1')
      await named('no software name', '', '1')
      await named('no software version', 'e2e', '')
      await named('after that, a good one', 'e2e', '1.0-beta.2')
    },
  },
  {
    name: 'ApiVersions in a version from the future',
    async run(session) {
      for (const version of [6, 99, 32_767]) {
        // The answer is in version 0 whatever was asked, and tells which versions there are (KIP-511).
        await session.note(`version ${version}`, async () => {
          const software = Buffer.from('\0\x04e2e\x021\0', 'latin1') // tags of the header, name, version, tags
          const connection = await session.connection()
          const payload = await connection.exchange(frame(header(apiVersions.key, version), software))
          if (payload === undefined) return connectionClosed
          const answer = apiVersions.response(0).decode(payload.subarray(4))
          const self = answer.apiKeys.find(({ apiKey }) => apiKey === apiVersions.key)
          return { error: errorText(answer.errorCode), self: self !== undefined && self.maxVersion >= 4 }
        })
      }
    },
  },
  {
    name: 'ApiVersions 5, which Kafka 4.4 clients ask first',
    async run(session) {
      await session.note('answer', async () => {
        const connection = await session.connection()
        const buffers = encodeRequest(
          apiVersions,
          5,
          { correlationId: 7, clientId: 'e2e' },
          { clientSoftwareName: 'e2e', clientSoftwareVersion: '1' },
        )
        const payload = await connection.exchange(Buffer.concat(buffers))
        if (payload === undefined) return connectionClosed
        return errorText(Buffer.from(payload).readInt16BE(4))
      })
    },
  },
  {
    name: 'what is not a request',
    async run(session) {
      const sent = (title: string, bytes: Uint8Array) => session.note(title, () => send(session, bytes))
      await sent('an unknown API', frame(header(9999, 0)))
      await sent('a negative API key', frame(header(-1, 0)))
      await sent('an API for brokers', frame(header(4, 5)))
      await sent('a version from the future', frame(header(metadata.key, 99)))
      await sent('a negative version', frame(header(metadata.key, -1)))
      await sent('an empty frame', frame())
      await sent('three bytes', frame(Buffer.from([0, 3, 0])))
      await sent('a header cut short', frame(header(metadata.key, 1).subarray(0, 6)))
      await sent('a client id longer than the frame', frame(Buffer.from([0, 3, 0, 1, 0, 0, 0, 1, 0x7f, 0xff, 65])))
      await sent('a body cut short', frame(header(metadata.key, 1), Buffer.from([0, 0, 0, 2, 0, 5, 65])))
      await sent('a count of two billion', frame(header(metadata.key, 1), Buffer.from([0x7f, 0xff, 0xff, 0xff])))
      await sent('a negative length', Buffer.from([0xff, 0xff, 0xff, 0xff, 1, 2, 3, 4]))
      await sent('a length of a gigabyte', Buffer.from([0x40, 0, 0, 0, 1, 2, 3, 4]))
      await sent('HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'))
      await sent('TLS', Buffer.from('1603010200010001fc0303', 'hex'))
      await session.note('others are served still', async () => {
        const other = await connectRaw(session.port)
        try {
          const answer = await other.ask(apiVersions, 0, { clientSoftwareName: '', clientSoftwareVersion: '' })
          return errorText(answer.errorCode)
        } finally {
          other.close()
        }
      })
    },
  },
  {
    name: 'a request with bytes to spare',
    async run(session) {
      const body = Buffer.from([0, 0, 0, 0])
      await session.note('after a Metadata request', () =>
        send(session, frame(header(metadata.key, 1), body, Buffer.from('and more'))),
      )
    },
  },
]

interface InitQuestion {
  readonly version?: number
  readonly transactionalId?: string | null
  readonly transactionTimeoutMs?: number
  readonly producerId?: bigint
  readonly producerEpoch?: number
}

async function initialize(session: Session, question: InitQuestion) {
  const { version = 4, transactionalId = null, transactionTimeoutMs = 60_000 } = question
  const connection = await session.connection()
  const given =
    version >= 3 ? { producerId: question.producerId ?? -1n, producerEpoch: question.producerEpoch ?? -1 } : {}
  let answer = await connection.ask(initProducerId, version, { transactionalId, transactionTimeoutMs, ...given })
  // A Kafka that has just started fetches its first block of ids, and says so.
  for (let attempt = 0; attempt < 50 && answer.errorCode === kafkaErrors.coordinatorLoadInProgress.code; attempt++) {
    await sleep(100)
    answer = await connection.ask(initProducerId, version, { transactionalId, transactionTimeoutMs, ...given })
  }
  return {
    producerId: answer.producerId,
    answer: {
      error: errorText(answer.errorCode),
      id:
        answer.producerId === -1n
          ? 'none'
          : answer.producerId === question.producerId
            ? 'the one given'
            : 'a fresh one',
      epoch: answer.producerEpoch,
    },
  }
}

/** Sends on a connection of its own: `connection closed`, an answer, or neither. */
async function send(session: Session, bytes: Uint8Array): Promise<string> {
  const connection = await connectRaw(session.port)
  try {
    const nothing = new Promise<string>((resolve) => setTimeout(resolve, 1500, noAnswer))
    const answer = connection
      .exchange(bytes)
      .then((payload) => (payload === undefined ? connectionClosed : 'an answer'))
    return await Promise.race([answer, nothing])
  } finally {
    connection.close()
  }
}

/** Request header version 1, client id "e2e". */
function header(apiKey: number, version: number): Buffer {
  const bytes = Buffer.alloc(13)
  bytes.writeInt16BE(apiKey, 0)
  bytes.writeInt16BE(version, 2)
  bytes.writeInt32BE(7, 4)
  bytes.writeInt16BE(3, 8)
  bytes.write('e2e', 10)
  return bytes
}

function frame(...parts: Uint8Array[]): Buffer {
  const payload = Buffer.concat(parts)
  const length = Buffer.alloc(4)
  length.writeInt32BE(payload.length)
  return Buffer.concat([length, payload])
}

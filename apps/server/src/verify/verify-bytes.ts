import type { WalSegmentRow } from '@pico/metadata'
import { type ObjectStore, StorageError, type StorageErrorCode } from '@pico/storage'
import type { Finding } from './finding.ts'
import { verifyDataObject, verifySegment, verifyWalExtents, verifyWalObject } from './stored-bytes.ts'
import { pageSize, type VerifiedSystem, type VerifyCounts, type VerifySettings } from './verified-system.ts'

interface Reading {
  readonly system: VerifiedSystem
  readonly settings: VerifySettings
  readonly counts: VerifyCounts
  /** What is missing need not be read. */
  readonly known: ReadonlySet<string>
}

/**
 * Reads every object that is needed, and verifies it against its rows. What is damaged is read once more, for rows as they are then:
 * objects that were merged or packed meanwhile may be gone.
 */
export async function* verifyBytes(reading: Reading): AsyncGenerator<Finding> {
  yield* verifyExtents(reading)
  for (const { nodeId } of await reading.system.metadata.nodes.list()) {
    yield* verifyWalObjects(reading, nodeId)
    yield* verifySegments(reading, nodeId)
  }
}

async function* verifyExtents(reading: Reading): AsyncGenerator<Finding> {
  const { audit } = reading.system.metadata
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page: Awaited<ReturnType<typeof audit.objects>> = await audit.objects({ after, limit: pageSize })
    for (const { key, data } of page) {
      if (data !== null) yield* damageOf(reading, key, () => verifyObject(reading, key))
    }
    after = page.at(-1)?.key
  }
}

/** Returns how many bytes were verified: none where nothing points into the object any more. */
async function verifyObject({ system, settings }: Reading, key: string): Promise<number> {
  const [object] = await system.metadata.audit.objectsByKey([key])
  const data = object?.data ?? null
  if (data === null) return 0
  const extents = await system.metadata.log.extentsOfObject(data.objectId)
  const inWal = extents.filter((extent) => extent.crc32c !== null)
  const packed = extents.filter((extent) => extent.crc32c === null)
  const store = storeOf(system, key)
  const walBytes = await verifyWalExtents(store, key, inWal, settings.signal)
  if (packed.length === 0) return walBytes
  return walBytes + (await verifyDataObject(store, { key, lengthBytes: data.lengthBytes }, packed, settings.signal))
}

async function* verifyWalObjects(reading: Reading, nodeId: number): AsyncGenerator<Finding> {
  const { metadata } = reading.system
  for (const row of await metadata.log.walObjects(nodeId)) {
    yield* damageOf(reading, row.key, async (isAgain) => {
      // Packed since; what an adoption made of it is among the objects that extents point into.
      if (isAgain && (await metadata.audit.objectsByKey([row.key]))[0]?.wal?.kind !== 'object') return 0
      return verifyWalObject(storeOf(reading.system, row.key), row, reading.settings.signal)
    })
  }
}

/** Nobody writes to them: segments are of one process, which keeps the database for itself. */
async function* verifySegments(reading: Reading, nodeId: number): AsyncGenerator<Finding> {
  const rows = await reading.system.metadata.log.walSegments(nodeId)
  const ends = new Map<number, number>()
  for (const row of rows.toSorted((a: WalSegmentRow, b: WalSegmentRow) => b.segmentId - a.segmentId)) {
    yield* damageOf(reading, row.key, async () => {
      const committedBytes = row.committedBytes ?? ends.get(row.segmentId) ?? null
      const store = storeOf(reading.system, row.key)
      const { endBytes, previous } = await verifySegment(store, row, committedBytes, reading.settings.signal)
      if (previous !== null) ends.set(previous.sequence, previous.committedBytes)
      return endBytes
    })
  }
}

/** What a second reading finds, if the first one found anything. Failures that say nothing about the bytes are thrown. */
async function* damageOf(
  { settings, counts, known }: Reading,
  key: string,
  read: (isAgain: boolean) => Promise<number>,
): AsyncGenerator<Finding> {
  if (known.has(key)) return
  for (const isAgain of [false, true]) {
    settings.signal.throwIfAborted()
    try {
      counts.verifiedBytes += await read(isAgain)
      return
    } catch (error) {
      if (!isDamage(error)) throw error
      if (isAgain) yield { kind: 'damaged', subject: key, what: error.message }
    }
  }
}

const damages: ReadonlySet<StorageErrorCode> = new Set([
  'PICO_STORAGE_OBJECT_MISSING',
  'PICO_STORAGE_OBJECT_TRUNCATED',
  'PICO_STORAGE_OBJECT_CORRUPT',
  'PICO_STORAGE_SEGMENT_DAMAGED',
  'PICO_STORAGE_MALFORMED',
  'PICO_STORAGE_UNSUPPORTED_VERSION',
])

function isDamage(error: unknown): error is StorageError {
  return error instanceof StorageError && damages.has(error.code)
}

function storeOf({ places }: VerifiedSystem, key: string): ObjectStore {
  const place = places.find((it) => it.holds(key))
  if (place === undefined) throw new Error(`no place holds ${key}`)
  return place.store
}

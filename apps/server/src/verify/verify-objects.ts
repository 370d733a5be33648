import type { KnownObject } from '@pico/metadata'
import type { ObjectInfo } from '@pico/storage'
import { type Finding, lasting, type Problem } from './finding.ts'
import { objectProblems } from './object-problems.ts'
import { type Place, pageSize, type VerifiedSystem, type VerifyCounts, type VerifySettings } from './verified-system.ts'

/**
 * Compares the keys that the database knows with those that a store lists. Both come in byte order, so that nothing has to be kept.
 *
 * A system at work moves meanwhile: the two lists are of different moments, and what differs is looked at again before it is
 * reported. An object is put before the row that needs it is committed, and its bytes are deleted before the last row that knows it,
 * and no key is ever used twice. So what a row needs before and after somebody looked for it in the store in vain is missing, and what the
 * store has before and after somebody looked for it in the database in vain is a stray.
 */
export async function* verifyObjects(
  system: VerifiedSystem,
  place: Place,
  settings: VerifySettings,
  counts: VerifyCounts,
): AsyncGenerator<Finding> {
  const limits = () => ({ nowMs: settings.nowMs(), boundMs: settings.boundMs, graceMs: settings.graceMs })
  const listed = place.store.list('', { signal: settings.signal })
  for await (const { key, known, stored } of sideBySide(knownIn(system, place, settings.signal), listed)) {
    count(counts, known, stored, settings.nowMs())
    if (objectProblems(known, stored, limits()).length === 0) continue
    for (const problem of await lookAgain(system, place, key, settings.signal, limits))
      yield { ...problem, subject: key }
  }
}

/** Problems that both the database and the store have each time they are asked, in turns. */
async function lookAgain(
  { metadata }: VerifiedSystem,
  { store }: Place,
  key: string,
  signal: AbortSignal,
  limits: () => Parameters<typeof objectProblems>[2],
): Promise<Problem[]> {
  const known = async () => (await metadata.audit.objectsByKey([key]))[0] ?? null
  const stored = async () => {
    for await (const info of store.list(key, { signal })) return info.key === key ? info : null
    return null
  }
  const knownBefore = await known()
  const storedBefore = await stored()
  const knownAfter = await known()
  const storedAfter = await stored()
  return lasting(
    objectProblems(knownBefore, storedBefore, limits()),
    objectProblems(knownAfter, storedBefore, limits()),
    objectProblems(knownAfter, storedAfter, limits()),
  )
}

async function* knownIn({ metadata }: VerifiedSystem, place: Place, signal: AbortSignal): AsyncGenerator<KnownObject> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    signal.throwIfAborted()
    const page: KnownObject[] = await metadata.audit.objects({ after, limit: pageSize })
    for (const object of page) if (place.holds(object.key)) yield object
    after = page.at(-1)?.key
  }
}

interface Beside {
  readonly key: string
  readonly known: KnownObject | null
  readonly stored: ObjectInfo | null
}

async function* sideBySide(
  knownObjects: AsyncGenerator<KnownObject>,
  storedObjects: AsyncIterable<ObjectInfo>,
): AsyncGenerator<Beside> {
  const listing = storedObjects[Symbol.asyncIterator]()
  const next = async <T>(of: AsyncIterator<T>): Promise<T | null> => {
    const { done, value } = await of.next()
    return done ? null : value
  }
  let known = await next(knownObjects)
  let stored = await next(listing)
  while (known !== null || stored !== null) {
    const isKnown = known !== null && (stored === null || known.key <= stored.key)
    const isStored = stored !== null && (known === null || stored.key <= known.key)
    yield {
      key: (isKnown ? known?.key : stored?.key) ?? '',
      known: isKnown ? known : null,
      stored: isStored ? stored : null,
    }
    if (isKnown) known = await next(knownObjects)
    if (isStored) stored = await next(listing)
  }
}

function count(counts: VerifyCounts, known: KnownObject | null, stored: ObjectInfo | null, nowMs: number): void {
  if (stored !== null) {
    counts.storedObjects += 1
    counts.storedBytes += stored.sizeBytes
  }
  if (known === null) return
  if (known.data !== null || known.wal !== null) counts.referencedObjects += 1
  else if ((known.doomedAtMs ?? 0) > nowMs) counts.announcedUploads += 1
  else counts.doomedObjects += 1
}

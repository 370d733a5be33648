import { type Metadata, MetadataUnavailableError } from '@pico/metadata'

const losable = [
  'commitWalObjects',
  'settleWalCommit',
  'createWalSegment',
  'closeWalSegment',
  'commitPack',
  'commitCompaction',
  'replaceExtents',
  'trim',
  'open',
] as const
type Losable = (typeof losable)[number]

/** Of one call, which may have happened all the same: whoever made it cannot know. */
export interface LostAnswer {
  readonly call: Losable
  readonly happened: boolean
}

export const losableCalls: readonly Losable[] = losable

/** A database over a connection that breaks: the answers to the calls in `lost` never arrive, first come first lost. */
export function withLostAnswers(metadata: Metadata, lost: LostAnswer[]): Metadata {
  const lossy = <T extends object>(role: T): T =>
    new Proxy(role, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...given: unknown[]): unknown => {
          const at = lost.findIndex(({ call }) => call === name)
          const [loss] = at === -1 ? [] : lost.splice(at, 1)
          if (loss === undefined) return member.apply(target, given)
          return loseAnswer(() => member.apply(target, given), loss)
        }
      },
    })
  return {
    ...metadata,
    log: lossy(metadata.log),
    streams: lossy(metadata.streams),
  }
}

async function loseAnswer(call: () => unknown, { call: name, happened }: LostAnswer): Promise<never> {
  if (happened) await call()
  throw new MetadataUnavailableError(name, { cause: new Error('connection reset') })
}

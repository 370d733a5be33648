import { unavailable } from './http-error.ts'
import type { Clock } from './surroundings.ts'

/** Whether the log takes more: see Log. `Streams` is one. */
export interface Room {
  hasRoom(): boolean
  whenRoom(): Promise<void>
}

/** Resolves when there is room. @throws HttpError 503 after `timeoutMs` */
export async function waitForRoom(room: Room, clock: Clock, timeoutMs: number): Promise<void> {
  let cancel = () => {}
  const timeUp = new Promise<'time is up'>((resolve) => {
    cancel = clock.after(timeoutMs, () => resolve('time is up'))
  })
  try {
    while (!room.hasRoom()) {
      if ((await Promise.race([room.whenRoom(), timeUp])) === 'time is up') {
        throw unavailable('too many records wait to become durable')
      }
    }
  } finally {
    cancel()
  }
}

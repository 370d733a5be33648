import { replay, step } from '../../src/index.ts'

/** The code under test, so that a broken one can take its place and show that the model notices. */
export interface Engine {
  readonly step: typeof step
  readonly replay: typeof replay
}

export const realEngine: Engine = { step, replay }

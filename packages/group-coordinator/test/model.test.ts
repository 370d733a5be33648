import { describe, expect, it } from 'vitest'
import { runWorld } from './model/world.ts'

const seeds = Number(process.env['PICO_MODEL_SEEDS'] ?? 1_000)
const firstSeed = Number(process.env['PICO_MODEL_FIRST_SEED'] ?? 1)

describe('a group among consumers that join, leave, die, sleep and come back, and coordinators that move', () => {
  it(`keeps its promises in ${seeds} runs`, () => {
    let commits = 0
    for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
      try {
        commits += runWorld(seed).commits
      } catch (cause) {
        throw new Error(
          `seed ${seed}: ${(cause as Error).message}; again with PICO_MODEL_FIRST_SEED=${seed} PICO_MODEL_SEEDS=1`,
          { cause },
        )
      }
    }
    expect(commits).toBeGreaterThan(seeds)
  }, 600_000)
})

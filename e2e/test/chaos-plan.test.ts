import { expect, it } from 'vitest'
import { plannedFaults } from '../src/cluster/chaos.ts'
import { faultKinds } from '../src/cluster/chaos-faults.ts'
import { Seeded } from '../src/cross/seeded.ts'

const traceOf = (seed: number, count: number) =>
  plannedFaults(new Seeded(seed), count).map(({ kind, random }) => `${kind} ${random.whole(0, 1_000_000)}`)

it('the same seed plans the same faults with the same choices, another one others', () => {
  expect(traceOf(7, 20)).toEqual(traceOf(7, 20))
  expect(traceOf(7, 20)).not.toEqual(traceOf(8, 20))
})

it('a longer run begins like a shorter one', () => {
  expect(traceOf(7, 20).slice(0, 5)).toEqual(traceOf(7, 5))
})

it('every kind of fault comes once before any comes again', () => {
  const kinds = plannedFaults(new Seeded(7), 2 * faultKinds.length).map(({ kind }) => kind)
  for (const half of [kinds.slice(0, faultKinds.length), kinds.slice(faultKinds.length)]) {
    expect(half.toSorted()).toEqual(faultKinds.toSorted())
  }
})

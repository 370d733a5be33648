import { headersPerAppendMax, mediaTypes, recordsPerAppendMax } from '@pico/http-contract'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { errorOf, PicoSystem } from './pico-system.ts'

/*
 * Bodies within the limit of bytes that hold so many small things, or so deep ones, that making them would keep the server from all else
 * and take its memory: refused before that.
 */

let pico: PicoSystem
beforeAll(async () => {
  pico = await PicoSystem.open()
  await pico.create('/s')
})
afterAll(async () => {
  expect(pico.errors).toEqual([])
  await pico.close()
})

const million = 1_000_000
const uint32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
const binary = (...parts: Buffer[]) => Buffer.concat([Buffer.from([1]), ...parts])

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `"${n}a":""`).join(',')

test.each([
  ['JSON records', mediaTypes.batchJson, `{"records":[${'{"body":""},'.repeat(recordsPerAppendMax)}{"body":""}]}`],
  ['JSON of which none is a record', mediaTypes.batchJson, `{"records":[${'0,'.repeat(4 * million)}0]}`],
  ['unknown members', mediaTypes.batchJson, `{"records":[{"body":"",${'"a":0,'.repeat(2 * million)}"b":0}]}`],
  ['unknown members of a record', mediaTypes.batchJson, `{"records":[{"body":"",${numbered(500_000)}}]}`],
  ['headers in JSON', mediaTypes.batchJson, `{"records":[{"body":"","headers":{${numbered(500_000)}}}]}`],
  [
    'pairs of headers',
    mediaTypes.batchJson,
    `{"records":[{"body":"","headers":[${'["",""],'.repeat(150_000)}["",""]]}]}`,
  ],
  ['arrays in arrays', mediaTypes.batchJson, `{"records":${'['.repeat(million)}${']'.repeat(million)}}`],
  ['objects in objects', mediaTypes.batchJson, `{"records":${'{"a":'.repeat(million)}0${'}'.repeat(million)}}`],
  ['binary records', mediaTypes.batch, binary(uint32(million), Buffer.alloc(8 * million))],
  ['headers', mediaTypes.batch, binary(uint32(1), uint32(million), Buffer.alloc(8 * million + 4))],
])('too many %s are 413, soon, and nothing is written', async (_what, type, body) => {
  const answer = await pico.append('/s', body, { 'Content-Type': type })
  expect([answer.status, errorOf(answer).error]).toEqual([413, 'too_large'])
  expect(await pico.records('/s')).toEqual([])
})

test('what is wrong with a request is told in a few words', async () => {
  const names = Array.from({ length: 10 }, (_, n) => `"${n}${'x'.repeat(5000)}":0`)
  const answer = await pico.append('/s', `{"records":[{"body":"",${names.join(',')}}]}`, {
    'Content-Type': mediaTypes.batchJson,
  })
  expect(answer.status).toBe(400)
  expect(answer.body.length).toBeLessThan(1000)
})

describe('as many as may be', () => {
  test('records of a binary batch are taken', async () => {
    await pico.create('/many')
    const body = binary(uint32(recordsPerAppendMax), Buffer.alloc(8 * recordsPerAppendMax))
    const answer = await pico.append('/many', body, { 'Content-Type': mediaTypes.batch })
    expect([answer.status, answer.headers['pico-next-seq']]).toEqual([200, String(recordsPerAppendMax)])
  })

  test('headers of a record are taken', async () => {
    await pico.create('/headers')
    const body = binary(uint32(1), uint32(headersPerAppendMax), Buffer.alloc(8 * headersPerAppendMax + 4))
    const answer = await pico.append('/headers', body, { 'Content-Type': mediaTypes.batch })
    expect([answer.status, answer.headers['pico-next-seq']]).toEqual([200, '1'])
  })
})

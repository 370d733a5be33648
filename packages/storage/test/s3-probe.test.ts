import { openS3Store, S3ProbeError } from '@pico/storage/s3'
import { afterEach, describe, expect, test } from 'vitest'
import type { S3Limits, S3Place } from '../src/s3/s3-settings.ts'
import { type Answer, done, openScripted, refusal, type ScriptedS3 } from './scripted-s3.ts'

const quick: Partial<S3Limits> = { callDeadlineMs: 2000, retryDelayMsMin: 50 }

let one: ScriptedS3 | undefined
afterEach(async () => {
  await one?.close()
  one = undefined
})

async function openingFails(answers: readonly Answer[], place: Partial<S3Place> = {}): Promise<string> {
  one = await openScripted(answers, {}, place)
  const error = await openS3Store({ ...one.place, ...quick }).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(S3ProbeError)
  return (error as S3ProbeError).message
}

describe('a store that cannot be used says so when it is opened, why, and what to look at', () => {
  test.each([
    ['NoSuchBucket', 404, {}, /there is no bucket|make the bucket bucket/],
    ['InvalidAccessKeyId', 403, {}, /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/],
    ['AccessDenied', 403, {}, /s3:PutObject, s3:GetObject and s3:DeleteObject on bucket\/p\/\*/],
    ['InvalidStorageClass', 400, { storageClass: 'NONE' }, /storageClass=/],
    ['InvalidEncryptionAlgorithmError', 400, { sse: { algorithm: 'AES256' } }, /sse=/],
    ['SlowDown', 503, {}, /SlowDown: so it is \(HTTP 503\).*endpoint=/],
    ['MethodNotAllowed', 405, {}, /endpoint= and pathStyle= \(now true\)/],
  ] as const)('%s', async (code, status, place, message) => {
    const said = await openingFails([refusal(status, code)], place)
    expect(said).toMatch(message)
    expect(said).toMatch(/^cannot use s3:\/\/bucket\/p\/ at http:\/\/127\.0\.0\.1:\d+: putting an object failed: /)
  })

  test('another region', async () => {
    const answer = refusal(400, 'AuthorizationHeaderMalformed', '<Region>eu-west-1</Region>')
    expect(await openingFails([answer])).toMatch(/region=eu-west-1/)
  })

  test('nobody there', async () => {
    const place = { bucket: 'bucket', prefix: '', endpoint: 'http://127.0.0.1:1' }
    await expect(openS3Store({ ...place, ...quick })).rejects.toThrow(/ECONNREFUSED.*look at endpoint=/)
  })

  test('what is put cannot be read', async () => {
    expect(await openingFails([done, refusal(404, 'NoSuchKey')])).toMatch(
      /reading a part of an object failed: NoSuchKey/,
    )
  })

  test('ranges are ignored', async () => {
    const whole: Answer = (outgoing) => void outgoing.writeHead(200).end('anything')
    expect(await openingFails([done, whole])).toMatch(/asked for a range, the store answers HTTP 200/)
  })

  test('other bytes come back', async () => {
    const other: Answer = (outgoing) =>
      void outgoing.writeHead(206, { 'content-range': 'bytes 5-13/41', 'content-length': 9 }).end('123456789')
    expect(await openingFails([done, other])).toMatch(/other bytes than were put/)
  })
})

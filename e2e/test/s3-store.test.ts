import { objectStoreConformance } from '@pico/storage/conformance'
import { openS3Store, type S3Settings } from '@pico/storage/s3'
import { afterAll, beforeAll, describe } from 'vitest'
import { newPrefix, type S3Service, startS3 } from '../src/cluster/s3-service.ts'

let service: S3Service

beforeAll(async () => {
  service = await startS3()
  Object.assign(process.env, service.env)
})

afterAll(async () => {
  await service.close()
})

function settingsOf(prefix: string): S3Settings {
  const { bucket, region, endpoint } = service
  return { bucket, prefix: `${prefix}/`, region, ...(endpoint !== undefined && { endpoint }) }
}

describe('S3 object store', () => objectStoreConformance(() => openS3Store(settingsOf(newPrefix(service)))))

import { randomUUID } from 'node:crypto'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'
import { startMinio } from './s3-minio.ts'
import { startVersitygw } from './s3-versitygw.ts'

/** A store that speaks S3, and really stores. */
export interface S3Service {
  /** For people: what it is, and where. */
  readonly name: string
  /** `http://127.0.0.1:…`; undefined for AWS itself. */
  readonly endpoint: string | undefined
  readonly region: string
  readonly bucket: string
  /** Before the prefix of every test, with its `/`. */
  readonly prefix: string
  /** More parameters of the URI. */
  readonly parameters: Readonly<Record<string, string>>
  /** The credentials, as the standard chain takes them from the environment. */
  readonly env: Readonly<Record<string, string>>
  close(): Promise<unknown>
}

const bucket = 'pico-test'
const testerCredentials = { AWS_ACCESS_KEY_ID: 'pico-tester', AWS_SECRET_ACCESS_KEY: 'pico-tester-secret' }

/**
 * The S3 that tests run against: `PICO_TEST_S3_URL` (`s3://bucket/prefix?endpoint=…&region=…`, with AWS's own variables for credentials) where that
 * is set; MinIO in a container where a Docker engine answers; else versitygw, over a folder. Says which.
 */
export async function startS3(): Promise<S3Service> {
  const service = await chosen()
  console.log(`S3: ${service.name}`)
  return service
}

async function chosen(): Promise<S3Service> {
  const given = process.env['PICO_TEST_S3_URL']
  if (given !== undefined && given !== '') return serviceAt(given)
  const started = (await startMinio(testerCredentials)) ?? (await startVersitygw(testerCredentials))
  const { name, endpoint, close } = started
  try {
    await makeBucket(endpoint)
  } catch (error) {
    await close()
    throw error
  }
  const place = { endpoint, region: 'us-east-1', bucket, prefix: '', parameters: {} }
  return { name: `${name} at ${endpoint}`, ...place, env: testerCredentials, close }
}

function serviceAt(url: string): S3Service {
  const match = /^s3:\/\/([^/?]+)\/?([^?]*)(?:\?(.*))?$/.exec(url)
  if (match === null) throw new Error(`PICO_TEST_S3_URL: ${url} is not s3://bucket/prefix?endpoint=…`)
  const [, name = '', path = '', query = ''] = match
  const { endpoint, region = 'us-east-1', ...parameters } = Object.fromEntries(new URLSearchParams(query))
  const prefix = path === '' ? '' : `${path.replace(/\/$/, '')}/`
  return {
    name: `PICO_TEST_S3_URL, ${url}`,
    endpoint,
    region,
    bucket: name,
    prefix,
    parameters,
    env: {},
    close: async () => {},
  }
}

async function makeBucket(endpoint: string): Promise<void> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = testerCredentials
  const credentials = { accessKeyId, secretAccessKey }
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
  await client.send(new CreateBucketCommand({ Bucket: bucket }))
  client.destroy()
}

/** A prefix that no other test has. */
export function newPrefix({ prefix }: Pick<S3Service, 'prefix'>): string {
  return `${prefix}${randomUUID()}`
}

/** `-2@s3://bucket/prefix?…`, as `--storage` takes it. */
export function storageUri(service: S3Service, prefix: string, endpoint = service.endpoint): string {
  const parameters = new URLSearchParams({ region: service.region, ...service.parameters })
  if (endpoint !== undefined) parameters.set('endpoint', endpoint)
  return `-2@s3://${service.bucket}/${prefix}?${parameters}`
}

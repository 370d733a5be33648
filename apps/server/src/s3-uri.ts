import { checkObjectKey, InvalidKeyError } from '@pico/storage'
import type { S3Encryption, S3Place } from '@pico/storage/s3'
import { UsageError } from './exit-errors.ts'

export const s3Parameters = ['region', 'endpoint', 'pathStyle', 'prefix', 'sse', 'storageClass'] as const

/** Objects there have to be fetched back before they can be read. */
const archives = ['GLACIER', 'DEEP_ARCHIVE']

/**
 * What follows `s3://`: a bucket, and a prefix as a path or as a parameter; and the parameters above.
 * @throws UsageError naming `flag` and the parameter
 */
export function parseS3Place(path: string, parameters: URLSearchParams, flag: string): S3Place {
  const refuse = (what: string) => new UsageError(`${flag}: ${what}`)
  const given = (name: (typeof s3Parameters)[number]) => {
    const [value, another] = parameters.getAll(name)
    if (another !== undefined) throw refuse(`${name}= is there twice`)
    if (value === '' && name !== 'prefix') throw refuse(`${name}= is empty`)
    return value
  }
  const slash = path.indexOf('/')
  const bucket = slash === -1 ? path : path.slice(0, slash)
  if (!/^[A-Za-z0-9._-]{1,255}$/.test(bucket)) throw refuse(`${JSON.stringify(bucket)} is no name of a bucket`)
  const inPath = slash === -1 ? '' : decodeURIComponent(path.slice(slash + 1))
  const parameter = given('prefix')
  if (inPath !== '' && parameter !== undefined) throw refuse('the prefix is there twice, in the path and as prefix=')
  const [region, endpoint, pathStyle, sse, storageClass] = [
    given('region'),
    given('endpoint'),
    given('pathStyle'),
    given('sse'),
    given('storageClass'),
  ]
  return {
    bucket,
    prefix: parsePrefix(parameter ?? inPath, refuse),
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint: parseEndpoint(endpoint, refuse) }),
    ...(pathStyle !== undefined && { pathStyle: parsePathStyle(pathStyle, refuse) }),
    ...(sse !== undefined && { sse: parseEncryption(sse, refuse) }),
    ...(storageClass !== undefined && { storageClass: parseStorageClass(storageClass, refuse) }),
  }
}

type Refuse = (what: string) => UsageError

/** With its slash at the end, or ''. */
function parsePrefix(text: string, refuse: Refuse): string {
  const prefix = text.replace(/^\/|\/$/g, '')
  if (prefix === '') return ''
  try {
    checkObjectKey(prefix)
  } catch (error) {
    if (error instanceof InvalidKeyError) throw refuse(`${JSON.stringify(text)} cannot be a prefix: ${error.message}`)
    throw error
  }
  return `${prefix}/`
}

function parseEndpoint(text: string, refuse: Refuse): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw refuse(`endpoint=${text} is no URL such as http://127.0.0.1:9000`)
  if (url.username !== '' || url.password !== '')
    throw refuse('endpoint= is shown in logs: give credentials by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  return text
}

function parsePathStyle(text: string, refuse: Refuse): boolean {
  if (text !== 'true' && text !== 'false') throw refuse(`pathStyle=${text} is neither true nor false`)
  return text === 'true'
}

function parseEncryption(text: string, refuse: Refuse): S3Encryption {
  if (text === 'AES256' || text === 'aws:kms' || text === 'aws:kms:dsse') return { algorithm: text }
  const kmsKeyId = /^aws:kms:(.+)$/.exec(text)?.[1]
  if (kmsKeyId === undefined) throw refuse(`sse=${text} is none of AES256, aws:kms, aws:kms:<key id>, aws:kms:dsse`)
  return { algorithm: 'aws:kms', kmsKeyId }
}

function parseStorageClass(text: string, refuse: Refuse): string {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw refuse(`storageClass=${text} is no name of a storage class`)
  if (archives.includes(text.toUpperCase()))
    throw refuse(`storageClass=${text} is an archive, and records have to be readable at once`)
  return text
}

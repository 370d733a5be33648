import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { S3Client } from '@aws-sdk/client-s3'
import { PayloadStream } from './put-body.ts'
import type { S3Limits, S3Place } from './s3-settings.ts'

const connectTimeoutMs = 3_000
/** Below what servers and load balancers in between commonly keep an idle connection for, so that it is us who close it. */
const idleTimeoutMs = 15_000

/** As AWS SDKs call the region of a store that has none. */
const regionOfEndpoints = 'us-east-1'

/**
 * The connection layer: a client that sends each request once (`S3Requests` repeats), over connections that stay open, with the
 * credentials of the standard chain. Checksum trailers are for requests that demand one: many stores do not know them, and what we
 * store carries our own.
 */
export function openS3Connection(place: S3Place, { requestsInFlightMax }: S3Limits): S3Client {
  const agent = {
    keepAlive: true,
    maxSockets: requestsInFlightMax,
    maxFreeSockets: requestsInFlightMax,
    timeout: idleTimeoutMs,
  }
  const region = place.region ?? (place.endpoint === undefined ? undefined : regionOfEndpoints)
  const client = new S3Client({
    ...(region !== undefined && { region }),
    ...(place.endpoint !== undefined && { endpoint: place.endpoint }),
    forcePathStyle: place.pathStyle ?? place.endpoint !== undefined,
    maxAttempts: 1,
    logger: silent,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false, // a round trip more for each put
    requestHandler: {
      connectionTimeout: connectTimeoutMs,
      httpAgent: new HttpAgent(agent),
      httpsAgent: new HttpsAgent(agent),
    },
  })
  const signPayloadHash = { step: 'build', name: 'signPayloadHash' } as const
  client.middlewareStack.add(
    (next) => (given) => {
      if (isHttp(given.request) && given.request.body instanceof PayloadStream)
        given.request.headers['x-amz-content-sha256'] = given.request.body.payloadHash
      return next(given)
    },
    signPayloadHash,
  )
  return client
}

/** What it has to say (that a body is not repeated, which we do ourselves) it would else write to the console. */
const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} }

function isHttp(request: unknown): request is { headers: Record<string, string>; body?: unknown } {
  return typeof request === 'object' && request !== null && 'headers' in request
}

import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { advertisedHttpAddress } from '../src/http-config.ts'
import { StartupError, serveDefaults, serverConfig, UsageError } from '../src/index.ts'
import { parseMetadataUrl, shownDatabase } from '../src/metadata-url.ts'
import type { ServeArguments } from '../src/serve-flags.ts'

/** As the command line gives them: every default, and what a test adds. */
function given(flags: ServeArguments = {}): ServeArguments {
  return { ...serveDefaults(), ...flags }
}

describe('serverConfig', () => {
  it('by default serves this machine, from one folder', () => {
    const config = serverConfig(given())
    const folder = resolve('data/objects')
    expect(config).toMatchObject({
      nodeId: 1,
      metadata: { kind: 'sqlite', path: resolve('data/meta.db') },
      storage: { bucketId: -2, place: { scheme: 'file', folder } },
      wal: { bucketId: -2, place: { scheme: 'file', folder }, kind: 'segment' },
      http: {
        listeners: [{ listen: { host: '127.0.0.1', port: 4437 }, protocol: 'pico', flag: 'listen' }],
        address: undefined,
        routing: 'redirect',
        corsOrigins: [],
        longPollTimeoutMs: 25_000,
        sseMaxDurationMs: 55_000,
      },
      admin: { listen: { host: '127.0.0.1', port: 9090 } },
      shutdownDrainMs: 0,
      kafka: {
        listen: { host: '127.0.0.1', port: 9092 },
        advertise: undefined,
        partitionsMax: 1,
        defaultPartitions: 1,
        autoCreateTopics: true,
        requestBytesMax: 100 << 20,
        idleTimeoutMs: 600_000,
        connectionsMax: 10_000,
        groups: {
          groupInitialRebalanceDelayMs: 3000,
          groupMinSessionTimeoutMs: 6000,
          groupMaxSessionTimeoutMs: 1_800_000,
        },
      },
    })
  })

  it('reads the write-ahead log with its parameters', () => {
    const wal =
      '-3@file:///var/wal?kind=object&batchInterval=250&maxBytesInBatch=4MiB&maxUnflushedBytes=32m&maxInflightUploadCount=2'
    expect(serverConfig(given({ wal })).wal).toEqual({
      bucketId: -3,
      place: { scheme: 'file', folder: '/var/wal' },
      kind: 'object',
      batchIntervalMs: 250,
      batchBytesMax: 4 << 20,
      unflushedBytesMax: 32 << 20,
      uploadsInFlightMax: 2,
    })
  })

  it('reads a bucket of S3 with its parameters, and puts the write-ahead log beside it', () => {
    const storage =
      '-2@s3://bucket/some/prefix?region=eu-west-1&endpoint=http://127.0.0.1:9000&pathStyle=false&sse=aws:kms:key-1&storageClass=STANDARD_IA'
    const config = serverConfig(given({ storage }))
    const place = {
      scheme: 's3',
      bucket: 'bucket',
      prefix: 'some/prefix/',
      region: 'eu-west-1',
      endpoint: 'http://127.0.0.1:9000',
      pathStyle: false,
      sse: { algorithm: 'aws:kms', kmsKeyId: 'key-1' },
    }
    expect(config.storage).toEqual({ bucketId: -2, place: { ...place, storageClass: 'STANDARD_IA' } })
    expect(config.wal).toEqual({ bucketId: -2, place, kind: 'object', batchIntervalMs: 250, uploadsInFlightMax: 4 })
  })

  it('takes the bucket as the documentation spells it, and a prefix as a parameter', () => {
    const bare = serverConfig(given({ storage: '-2@s3://bucket?region=us-east-1' }))
    expect(bare.storage.place).toEqual({ scheme: 's3', bucket: 'bucket', prefix: '', region: 'us-east-1' })
    const prefixed = serverConfig(given({ storage: '-2@s3://bucket?prefix=/a/b/' })).storage.place
    expect(prefixed).toEqual({ scheme: 's3', bucket: 'bucket', prefix: 'a/b/' })
  })

  it('reads a write-ahead log on S3, or beside it in a folder', () => {
    const storage = '-2@s3://bucket'
    const onS3 = serverConfig(given({ storage, wal: '-3@s3://log?batchInterval=100&maxInflightUploadCount=8' })).wal
    expect(onS3).toMatchObject({
      kind: 'object',
      batchIntervalMs: 100,
      uploadsInFlightMax: 8,
      place: { bucket: 'log' },
    })
    const inFolder = serverConfig(given({ storage, wal: '-3@file:///var/wal' })).wal
    expect(inFolder).toEqual({ bucketId: -3, kind: 'segment', place: { scheme: 'file', folder: '/var/wal' } })
  })

  it('serves from Postgres and S3 as the documentation spells it', () => {
    const flags = { 'meta-url': 'postgres://user:pass@pg:5432/picomq', storage: '-2@s3://bucket?region=us-east-1' }
    const place = { scheme: 's3', bucket: 'bucket', prefix: '', region: 'us-east-1' }
    expect(serverConfig(given(flags))).toMatchObject({ storage: { place }, wal: { place, kind: 'object' } })
  })

  it('keeps the metadata in memory when told to', () => {
    expect(serverConfig(given({ 'meta-url': 'sqlite::memory:' })).metadata).toEqual({
      kind: 'sqlite',
      path: ':memory:',
    })
  })

  it('takes a shared database, and then a write-ahead log that others can take over', () => {
    const url = 'postgres://pico:secret@db.example:5432/pico?sslmode=require'
    expect(serverConfig(given({ 'meta-url': url }))).toMatchObject({
      metadata: { kind: 'postgres', url },
      wal: { kind: 'object' },
    })
    expect(serverConfig(given({ 'meta-url': url, wal: '-2@file:///wal?batchInterval=5' })).wal).toEqual({
      bucketId: -2,
      place: { scheme: 'file', folder: '/wal' },
      kind: 'object',
      batchIntervalMs: 5,
    })
    const segments = given({ 'meta-url': url, wal: '-2@file:///wal?kind=segment' })
    expect(() => serverConfig(segments)).toThrow(StartupError)
    expect(() => serverConfig(segments)).toThrow(/^--wal kind=segment .*use kind=object$/)
  })

  it('never shows the password of a database', () => {
    expect(shownDatabase(parseMetadataUrl('postgres://pico:secret@db.example:5432/pico'))).toBe(
      'postgres://db.example:5432/pico',
    )
  })

  it('refuses more partitions by default than a topic may have', () => {
    const flags = { 'kafka-max-partitions': '4', 'kafka-default-partitions': '5' }
    expect(() => serverConfig(given(flags))).toThrow(StartupError)
    expect(() => serverConfig(given(flags))).toThrow(
      '--kafka-default-partitions 5 is more than --kafka-max-partitions 4',
    )
    expect(serverConfig(given({ ...flags, 'kafka-default-partitions': '4' })).kafka?.defaultPartitions).toBe(4)
  })

  it('refuses session timeouts that leave nothing to ask for', () => {
    const flags = { 'kafka-group-min-session-timeout-ms': '10000', 'kafka-group-max-session-timeout-ms': '9999' }
    expect(() => serverConfig(given(flags))).toThrow(StartupError)
    expect(() => serverConfig(given(flags))).toThrow('--kafka-group-min-session-timeout-ms 10000 is more than')
    expect(serverConfig(given({ 'kafka-group-initial-rebalance-delay-ms': '0' })).kafka?.groups).toMatchObject({
      groupInitialRebalanceDelayMs: 0,
    })
  })

  it('serves no Kafka when told so, wherever it would have listened', () => {
    expect(serverConfig(given({ 'no-kafka': true, 'kafka-listen': '0.0.0.0:9092' })).kafka).toBeNull()
  })

  it.each(['127.0.0.1:9092', '127.9.9.9:1', 'localhost:9092', '[::1]:9092'])(
    'listens on %s without being asked twice',
    (listen) => {
      expect(serverConfig(given({ 'kafka-listen': listen })).kafka).not.toBeNull()
    },
  )

  it.each(['0.0.0.0:9092', '10.0.0.1:9092', '[::]:9092', 'broker.internal:9092', '128.0.0.1:9092'])(
    'refuses to expose %s unless told that it may',
    (listen) => {
      const flags = { 'kafka-listen': listen, 'kafka-advertise': 'broker.internal:9092' }
      expect(() => serverConfig(given(flags))).toThrow(StartupError)
      expect(() => serverConfig(given(flags))).toThrow(/--kafka-listen .*--insecure-allow-remote/)
      expect(serverConfig(given({ ...flags, 'insecure-allow-remote': true })).kafka?.listen.port).toBe(9092)
    },
  )

  it('needs an address to tell clients when it listens on all of them', () => {
    const flags = { 'kafka-listen': '0.0.0.0:9092', 'insecure-allow-remote': true }
    expect(() => serverConfig(given(flags))).toThrow(/--kafka-advertise/)
    expect(() => serverConfig(given({ ...flags, 'kafka-advertise': '0.0.0.0:9092' }))).toThrow(/--kafka-advertise/)
    expect(serverConfig(given({ ...flags, 'kafka-advertise': '[fd00::1]:19092' })).kafka?.advertise).toEqual({
      host: 'fd00::1',
      port: 19092,
    })
  })
})

describe('HTTP listeners', () => {
  it('are as many as were asked for, each with its protocol', () => {
    const ds = { listen: { host: '127.0.0.1', port: 4438 }, protocol: 'ds', flag: 'ds-listen' }
    const both = serverConfig(given({ 'ds-listen': '127.0.0.1:4438' })).http.listeners
    expect(both).toMatchObject([{ protocol: 'pico', flag: 'listen' }, ds])
    const flags = { 'no-http': true, 'no-admin': true }
    expect(serverConfig(given({ ...flags, 'ds-listen': '127.0.0.1:4438' }))).toMatchObject({
      admin: null,
      http: { listeners: [ds] },
    })
    expect(serverConfig(given(flags)).http.listeners).toEqual([])
    expect(serverConfig(given({ protocol: 'ds' })).http.listeners).toMatchObject([{ protocol: 'ds', flag: 'listen' }])
  })

  it.each(['listen', 'ds-listen', 'schema-registry-listen', 'admin-listen'])(
    '--%s is exposed only when told that it may be',
    (flag) => {
      for (const listen of ['0.0.0.0:4437', '10.0.0.1:4437', '[::]:4437', 'node1:4437']) {
        expect(() => serverConfig(given({ [flag]: listen }))).toThrow(StartupError)
        expect(() => serverConfig(given({ [flag]: listen }))).toThrow(`--${flag} ${listen} is beyond loopback`)
        expect(() => serverConfig(given({ [flag]: listen, 'insecure-allow-remote': true }))).not.toThrow()
      }
    },
  )

  it.each([
    ['node1:4437', 'http://node1:4437'],
    ['https://streams.example', 'https://streams.example'],
    ['http://[fd00::1]:4437/', 'http://[fd00::1]:4437'],
  ])('are reached at --http-address %s', (given1, address) => {
    expect(serverConfig(given({ 'http-address': given1 })).http.address).toBe(address)
    expect(advertisedHttpAddress(serverConfig(given({ 'http-address': given1 })).http)).toBe(address)
  })

  it('are reached where they listen when nothing else is said, if that is an address', () => {
    expect(advertisedHttpAddress(serverConfig(given()).http)).toBe('http://127.0.0.1:4437')
    const any = { listen: '[::1]:0' }
    expect(advertisedHttpAddress(serverConfig(given(any)).http, 12_345)).toBe('http://[::1]:12345')
    const wildcard = { listen: '0.0.0.0:4437', 'insecure-allow-remote': true }
    expect(advertisedHttpAddress(serverConfig(given(wildcard)).http)).toBeNull()
    expect(advertisedHttpAddress(serverConfig(given({ 'no-http': true })).http)).toBeNull()
  })

  it('let web pages of those origins in', () => {
    expect(serverConfig(given({ 'cors-origin': 'https://a.example, http://localhost:3000' })).http.corsOrigins).toEqual(
      ['https://a.example', 'http://localhost:3000'],
    )
    expect(serverConfig(given({ 'cors-origin': '*' })).http.corsOrigins).toEqual(['*'])
  })
})

describe('what cannot be understood names its flag', () => {
  it.each([
    ['node-id', 'one', /--node-id/],
    ['node-id', '0', /--node-id/],
    ['node-id', '-1', /--node-id/],
    ['cluster-id', 'a b', /--cluster-id/],
    ['kafka-listen', '9092', /--kafka-listen.*host:port/],
    ['kafka-listen', 'host:99999', /--kafka-listen.*host:port/],
    ['kafka-listen', '::1:9092', /--kafka-listen.*host:port/],
    ['kafka-advertise', 'host', /--kafka-advertise.*host:port/],
    ['kafka-max-connections', '0', /--kafka-max-connections/],
    ['listen', '4437', /--listen.*host:port/],
    ['ds-listen', '4437', /--ds-listen.*host:port/],
    ['admin-listen', 'x', /--admin-listen.*host:port/],
    ['http-address', 'http://node1:4437/path', /--http-address/],
    ['http-address', '0.0.0.0:4437', /--http-address/],
    ['http-address', 'http://', /--http-address/],
    ['cors-origin', 'app.example', /--cors-origin.*origin such as/],
    ['cors-origin', 'https://app.example/', /--cors-origin.*origin such as/],
    ['long-poll-timeout-sec', '0', /--long-poll-timeout-sec/],
    ['sse-max-duration-sec', 'x', /--sse-max-duration-sec/],
    ['shutdown-drain-sec', '-1', /--shutdown-drain-sec/],
    ['kafka-max-partitions', '1.5', /--kafka-max-partitions/],
    ['kafka-max-request-size', '10 potatoes', /--kafka-max-request-size.*size/],
    ['meta-url', 'postgres://user:secret@db', /^(?!.*secret)--meta-url: a Postgres database is named postgres/],
    ['meta-url', 'mysql://db', /--meta-url.*sqlite:/],
    ['meta-url', 'sqlite:', /--meta-url/],
    ['storage', './data', /--storage.*<bucket id>@<uri>/],
    ['storage', '-2@ftp://host/', /--storage.*ftp:\/\//],
    ['storage', '-2@file://', /--storage.*no folder/],
    ['storage', '-2@file://x?region=y', /--storage: unknown parameter region/],
    ['storage', '-2@s3://', /--storage: .*names no bucket/],
    ['storage', '-2@s3://b?kind=object', /--storage: unknown parameter kind; known are region, endpoint/],
    ['storage', '-2@s3://b?pathstyle=true', /--storage: unknown parameter pathstyle/],
    ['storage', '-2@s3://b?pathStyle=yes', /--storage: pathStyle=yes is neither true nor false/],
    ['storage', '-2@s3://b?endpoint=127.0.0.1:9000', /--storage: endpoint=127.0.0.1:9000 is no URL/],
    ['storage', '-2@s3://b?endpoint=http://key:secret@host', /--storage: endpoint= is shown in logs/],
    ['storage', '-2@s3://b?region=', /--storage: region= is empty/],
    ['storage', '-2@s3://b?region=a&region=b', /--storage: region= is there twice/],
    ['storage', '-2@s3://b/a?prefix=b', /--storage: the prefix is there twice/],
    ['storage', '-2@s3://b/a/../b', /--storage: .*cannot be a prefix/],
    ['storage', '-2@s3://b?sse=rot13', /--storage: sse=rot13 is none of AES256/],
    ['storage', '-2@s3://b?storageClass=DEEP_ARCHIVE', /--storage: storageClass=DEEP_ARCHIVE is an archive/],
    ['wal', '-2@s3://b?kind=segment', /--wal: kind=segment .*use kind=object/],
    ['wal', '-2@file://x?kind=tape', /--wal: kind=tape/],
    ['wal', '-2@file://x?batchInterval=soon', /--wal: batchInterval/],
    ['wal', '-2@file://x?maxInflightUploadCount=0', /--wal: maxInflightUploadCount/],
    ['wal', '-2@file://x?color=red', /--wal: unknown parameter color; known are kind, batchInterval/],
  ] as const)('--%s %s', (flag, value, message) => {
    expect(() => serverConfig(given({ [flag]: value }))).toThrow(UsageError)
    expect(() => serverConfig(given({ [flag]: value }))).toThrow(message)
  })
})

abstract class MetadataError extends Error {
  abstract readonly code: string
}

/** This node epoch may write nothing any more: a newer epoch of the node, or another node, has taken over. */
export class FencedError extends MetadataError {
  readonly code = 'PICO_METADATA_FENCED'
  constructor(nodeId: number, nodeEpoch: number) {
    super(`node ${nodeId} epoch ${nodeEpoch} is fenced`)
    this.name = 'FencedError'
  }
}

/** The node is a current one, but that stream is not its own: it was handed over, or somebody else opened it first. */
export class StreamNotOwnedError extends MetadataError {
  readonly code = 'PICO_METADATA_STREAM_NOT_OWNED'
  readonly streamId: number
  constructor(nodeId: number, nodeEpoch: number, streamId: number) {
    super(`node ${nodeId} epoch ${nodeEpoch} does not own stream ${streamId}`)
    this.streamId = streamId
    this.name = 'StreamNotOwnedError'
  }
}

export class StreamExistsError extends MetadataError {
  readonly code = 'PICO_METADATA_STREAM_EXISTS'
  readonly streamName: string
  constructor(streamName: string) {
    super(`stream ${streamName} exists`)
    this.streamName = streamName
    this.name = 'StreamExistsError'
  }
}

export class TopicCollisionError extends MetadataError {
  readonly code = 'PICO_METADATA_TOPIC_COLLISION'
  readonly topic: string
  readonly existingTopic: string
  constructor(topic: string, existingTopic: string) {
    super(`topic ${topic} collides with ${existingTopic}: '.' and '_' count as the same`)
    this.topic = topic
    this.existingTopic = existingTopic
    this.name = 'TopicCollisionError'
  }
}

/** The settings of a stream bind it to a version of a schema (`pico.schema`) that is not there, or deleted. */
export class SchemaMissingError extends MetadataError {
  readonly code = 'PICO_METADATA_SCHEMA_MISSING'
  readonly schemaName: string
  readonly version: number
  constructor(schemaName: string, version: number) {
    super(`there is no version ${version} of schema ${schemaName}`)
    this.schemaName = schemaName
    this.version = version
    this.name = 'SchemaMissingError'
  }
}

/**
 * A commit names an object whose upload was not announced, or whose announced time has passed: its bytes may be gone by now, or go
 * at any moment. Nothing was committed; upload the bytes again under another key.
 */
export class UploadExpiredError extends MetadataError {
  readonly code = 'PICO_METADATA_UPLOAD_EXPIRED'
  readonly key: string
  constructor(key: string) {
    super(`object ${key} was not announced, or its time to be committed has passed`)
    this.key = key
    this.name = 'UploadExpiredError'
  }
}

/** The database could not be reached or failed; what was under way may or may not have happened. */
export class MetadataUnavailableError extends MetadataError {
  readonly code = 'PICO_METADATA_UNAVAILABLE'
  constructor(doing: string, options: { cause: unknown }) {
    super(
      `metadata unavailable while ${doing}: ${options.cause instanceof Error ? options.cause.message : String(options.cause)}`,
      options,
    )
    this.name = 'MetadataUnavailableError'
  }
}

/** Another process holds the database. */
export class DatabaseLockedError extends MetadataError {
  readonly code = 'PICO_METADATA_LOCKED'
  readonly path: string
  constructor(path: string, options?: { cause: unknown }) {
    super(`database ${path} is in use by another process`, options)
    this.path = path
    this.name = 'DatabaseLockedError'
  }
}

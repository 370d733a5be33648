export const schemaKinds = ['json', 'avro', 'protobuf'] as const
export type SchemaKind = (typeof schemaKinds)[number]

/** A schema with everything that it refers to, complete: what a validator is compiled from, the same wherever and whenever that is. */
export interface SchemaSource {
  readonly kind: SchemaKind
  readonly text: string
  /** All of them, also those that others refer to; each comes after what it refers to itself. `importName` is what the text calls it. */
  readonly references: readonly { readonly importName: string; readonly text: string }[]
}

/** Something wrong with a schema, or between two of them; `path` is a place in the schema, '' for all of it. */
export interface SchemaProblem {
  readonly path: string
  readonly reason: string
}

/**
 * `plain`: the value is the encoded datum and nothing else (JSON text; Avro binary; a Protobuf message of the file's first type).
 * `confluent`: before it, as Confluent's serializers write, a zero byte and the schema's id (int32, big endian), and for Protobuf the
 * indexes of the message's type.
 */
export const schemaEncodings = ['plain', 'confluent'] as const
export type SchemaEncoding = (typeof schemaEncodings)[number]

/** What a topic's records are held to. */
export interface SchemaBinding {
  readonly name: string
  readonly version: number
  readonly encoding: SchemaEncoding
  /** A record without a value deletes its key: on a compacted topic it passes, elsewhere it is refused. */
  readonly tombstonesPass: boolean
}

export interface RecordProblem {
  /** Which record, counted from 0 in what was judged. */
  readonly index: number
  /** Where in its value (a JSON Pointer), '' for all of it. */
  readonly path: string
  readonly reason: string
}

/** No problem: every record is as its schema wants it. */
export type Judged = readonly RecordProblem[]

/**
 * Holds the values of records to the schema that their topic is bound to.
 * @throws SchemaUnavailableError when the schema cannot be had for the moment: nobody knows whether the records are good. Retriable.
 */
export interface SchemaJudge {
  /**
   * Of one v2 batch as it was produced (or the message set of Produce 0-2), compressed or not. The bytes are borrowed until this returns.
   * What cannot be read as records passes here: the gate refuses that for what it is.
   */
  judgeBatch(binding: SchemaBinding, batch: Uint8Array): Promise<Judged>
  /** Of records that came one by one. The values are borrowed until this returns. */
  judgeValues(binding: SchemaBinding, values: readonly (Uint8Array | null)[]): Promise<Judged>
}

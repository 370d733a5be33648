/** A Protobuf file as it is understood: names resolved, features of its syntax or edition applied. */

export const scalarTypes = `double float int32 uint32 sint32 fixed32 sfixed32 int64 uint64 sint64 fixed64 sfixed64
  bool string bytes`.split(/\s+/)

export interface ProtoFile {
  readonly package: string
  /** Those of this file, not of what it imports, in the order of the text. */
  readonly messages: readonly ProtoMessage[]
  readonly enums: readonly ProtoEnum[]
}

export interface ProtoMessage {
  readonly kind: 'message'
  readonly name: string
  /** With its package, and the messages that it is in. */
  readonly fullName: string
  /** Filled in after the message is known by name; in the order of their numbers. */
  readonly fields: ProtoField[]
  readonly messages: ProtoMessage[]
  readonly enums: ProtoEnum[]
  readonly reserved: readonly (string | readonly [from: number, to: number])[]
  readonly extensions: readonly (readonly [from: number, to: number])[]
  readonly isMapEntry: boolean
}

export interface ProtoField {
  readonly name: string
  readonly number: number
  /** One of `scalarTypes`, or what the name of the type stands for. A map is repeated messages of a key and a value. */
  readonly type: string | ProtoMessage | ProtoEnum
  readonly label: 'optional' | 'required' | 'repeated'
  /** Of a oneof that is written as one, not of the one that `optional` makes in proto3. */
  readonly oneof: string | null
  /** Whether it can be told that it was not written. */
  readonly hasPresence: boolean
  readonly isPacked: boolean
  /** Between tags of its own, as groups are, instead of after a length. */
  readonly isDelimited: boolean
  /** Whether strings have to be UTF-8: not in proto2. */
  readonly isUtf8Verified: boolean
  readonly default: unknown
}

export interface ProtoEnum {
  readonly kind: 'enum'
  readonly name: string
  readonly fullName: string
  readonly values: ReadonlyMap<string, number>
  /** Of a closed one, numbers that have no name count as unknown fields. */
  readonly isClosed: boolean
}

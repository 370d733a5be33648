/** google/protobuf/descriptor.proto, as far as it is read and written here, in the names that protobufjs gives its fields. */

export interface FileDescriptor {
  readonly name?: string
  readonly package?: string
  readonly dependency?: readonly string[]
  readonly publicDependency?: readonly number[]
  readonly weakDependency?: readonly number[]
  readonly messageType?: readonly MessageDescriptor[]
  readonly enumType?: readonly EnumDescriptor[]
  readonly service?: readonly ServiceDescriptor[]
  readonly extension?: readonly FieldDescriptor[]
  readonly options?: Options
  readonly syntax?: string
  readonly edition?: number
}

export interface MessageDescriptor {
  readonly name: string
  readonly field?: readonly FieldDescriptor[]
  readonly extension?: readonly FieldDescriptor[]
  readonly nestedType?: readonly MessageDescriptor[]
  readonly enumType?: readonly EnumDescriptor[]
  /** Ends are exclusive. */
  readonly extensionRange?: readonly NumberRange[]
  readonly oneofDecl?: readonly { readonly name: string }[]
  readonly options?: Options
  /** Ends are exclusive. */
  readonly reservedRange?: readonly NumberRange[]
  readonly reservedName?: readonly string[]
}

export interface NumberRange {
  readonly start: number
  readonly end: number
}

export interface FieldDescriptor {
  readonly name: string
  readonly number: number
  readonly label?: number
  readonly type?: number
  /** With a dot before it: complete. */
  readonly typeName?: string
  readonly extendee?: string
  readonly defaultValue?: string
  readonly oneofIndex?: number
  readonly jsonName?: string
  readonly options?: Options
  readonly proto3Optional?: boolean
}

export interface EnumDescriptor {
  readonly name: string
  readonly value?: readonly { readonly name: string; readonly number: number; readonly options?: Options }[]
  readonly options?: Options
  /** Ends are inclusive. */
  readonly reservedRange?: readonly NumberRange[]
  readonly reservedName?: readonly string[]
}

export interface ServiceDescriptor {
  readonly name: string
  readonly method?: readonly {
    readonly name: string
    readonly inputType: string
    readonly outputType: string
    readonly clientStreaming?: boolean
    readonly serverStreaming?: boolean
  }[]
}

/** A message of options, by the names of its fields. */
export type Options = Readonly<Record<string, unknown>>

/** By their numbers. */
export const fieldTypes: Readonly<Record<number, string>> = {
  1: 'double',
  2: 'float',
  3: 'int64',
  4: 'uint64',
  5: 'int32',
  6: 'fixed64',
  7: 'fixed32',
  8: 'bool',
  9: 'string',
  12: 'bytes',
  13: 'uint32',
  15: 'sfixed32',
  16: 'sfixed64',
  17: 'sint32',
  18: 'sint64',
}
export const messageType = 11
export const enumType = 14

export const labels = { optional: 1, required: 2, repeated: 3 } as const

/** By their numbers, those of `edition`. */
export const editions: Readonly<Record<number, string>> = { 1000: '2023', 1001: '2024' }

import protobuf from 'protobufjs'
import descriptor from 'protobufjs/ext/descriptor.js'
import type { SchemaSource } from '../schema.ts'
import type { ProtoDescriptor } from '../workers/work-messages.ts'
import {
  type EnumDescriptor,
  enumType,
  type FieldDescriptor,
  type FileDescriptor,
  fieldTypes,
  labels,
  type MessageDescriptor,
  messageType,
  type ServiceDescriptor,
} from './descriptor-messages.ts'
import { protoTextOfDescriptor } from './proto-text-of-descriptor.ts'

const typeNumbers = Object.fromEntries(Object.entries(fieldTypes).map(([number, name]) => [name, Number(number)]))

/**
 * A `.proto` file that compiles, as serialized file descriptor in base64: what some of Confluent's clients read (`format=serialized`). Fields,
 * types, ranges and services are in it; of the options those that change what is written.
 */
export function descriptorOfProto(source: SchemaSource): ProtoDescriptor {
  try {
    return { descriptor: encoded(source) }
  } catch (error) {
    // Of a file that compiles: what a descriptor has no words for, or protobufjs no types.
    if (error instanceof Error) return { problem: error.message }
    throw error
  }
}

function encoded(source: SchemaSource): string {
  // Somebody may have registered one as it was.
  if (protoTextOfDescriptor(source.text) !== null) return source.text
  const root = new protobuf.Root()
  const wellKnown = new Set<string>()
  for (const { text } of source.references) parse(root, text, wellKnown)
  const others = new Set(everythingIn(root))
  const main = parse(root, source.text, wellKnown)
  root.resolveAll()
  const file = fileDescriptor(root, main, source.text, others)
  const message = descriptor.FileDescriptorProto.fromObject(file as Record<string, unknown>)
  return Buffer.from(descriptor.FileDescriptorProto.encode(message).finish()).toString('base64')
}

function parse(root: protobuf.Root, text: string, wellKnown: Set<string>): protobuf.IParserResult {
  const parsed = protobuf.parse(text, root, { keepCase: true })
  for (const imported of parsed.imports ?? []) {
    if (!wellKnown.has(imported)) addWellKnown(root, imported)
    wellKnown.add(imported)
  }
  return parsed
}

/** Google's own files, which everybody has. */
function addWellKnown(root: protobuf.Root, importName: string): void {
  const known = protobuf.common.get(importName)
  if (known?.nested === undefined) return
  root.addJSON(known.nested)
}

/** Packages too: several files may have one. */
function everythingIn(namespace: protobuf.NamespaceBase): protobuf.ReflectionObject[] {
  return namespace.nestedArray.flatMap((one) => {
    const isPackage = one instanceof protobuf.Namespace && !(one instanceof protobuf.Type)
    return isPackage ? [one, ...everythingIn(one)] : [one]
  })
}

function fileDescriptor(
  root: protobuf.Root,
  main: protobuf.IParserResult,
  text: string,
  others: ReadonlySet<protobuf.ReflectionObject>,
): FileDescriptor {
  const packageName = main.package ?? ''
  const namespace = packageName === '' ? root : root.lookup(packageName)
  if (!(namespace instanceof protobuf.Namespace)) throw new Error(`there is no package ${packageName}`)
  const own = namespace.nestedArray.filter((one) => !others.has(one))
  const syntax = syntaxOf(text)
  return {
    name: 'default.proto',
    ...(packageName === '' ? {} : { package: packageName }),
    dependency: [...(main.imports ?? []), ...(main.weakImports ?? [])],
    messageType: own.filter((one) => one instanceof protobuf.Type).map((one) => messageDescriptor(one, syntax)),
    enumType: own.filter((one) => one instanceof protobuf.Enum).map(enumDescriptor),
    extension: own.filter((one) => one instanceof protobuf.Field).map((one) => fieldDescriptor(one, syntax)),
    service: own.filter((one) => one instanceof protobuf.Service).map(serviceDescriptor),
    ...(syntax === 'proto3' ? { syntax } : {}),
  }
}

type Syntax = 'proto2' | 'proto3'

/** @throws Error for editions, whose rules a descriptor has to spell out */
function syntaxOf(text: string): Syntax {
  const withoutComments = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ' ').trimStart()
  if (/^edition\b/.test(withoutComments)) throw new Error('files of an edition cannot be given as descriptors')
  return /^syntax\s*=\s*["']proto3["']/.test(withoutComments) ? 'proto3' : 'proto2'
}

function messageDescriptor(type: protobuf.Type, syntax: Syntax): MessageDescriptor {
  const nested = type.nestedArray
  // What extends it is there too, and belongs where it was declared.
  const own = type.fieldsArray.filter(({ declaringField }) => declaringField === null)
  const oneofs = new Map(oneofsOf(type).map((oneof, index) => [oneof, index]))
  return {
    name: type.name,
    field: own.map((field) => fieldDescriptor(field, syntax, oneofs)),
    extension: nested.filter((one) => one instanceof protobuf.Field).map((one) => fieldDescriptor(one, syntax)),
    nestedType: [
      ...nested.filter((one) => one instanceof protobuf.Type).map((one) => messageDescriptor(one, syntax)),
      // Behind the others, so that those keep the indexes by which values name them.
      ...own.filter((field) => field instanceof protobuf.MapField).map(mapEntry),
    ],
    enumType: nested.filter((one) => one instanceof protobuf.Enum).map(enumDescriptor),
    extensionRange: ranges(type.extensions, 1),
    oneofDecl: [...oneofs.keys()].map(({ name }) => ({ name })),
    reservedRange: ranges(type.reserved, 1),
    reservedName: (type.reserved ?? []).filter((one) => typeof one === 'string'),
  }
}

function fieldDescriptor(
  field: protobuf.Field,
  syntax: Syntax,
  oneofs: ReadonlyMap<protobuf.OneOf, number> = noOneofs,
): FieldDescriptor {
  field.resolve()
  const isMap = field instanceof protobuf.MapField
  const described = {
    name: field.name,
    number: field.id,
    label: field.repeated || isMap ? labels.repeated : field.required ? labels.required : labels.optional,
    ...(isMap
      ? { type: messageType, typeName: `${field.parent?.fullName}.${entryName(field)}` }
      : typeOf(field.type, field.resolvedType)),
  }
  const options = field.options ?? {}
  const isOptional = options['proto3_optional'] === true
  const oneof = field.partOf === null ? undefined : oneofs.get(field.partOf)
  const packed = field.repeated && field.packed !== (syntax === 'proto3') ? { options: { packed: field.packed } } : {}
  return {
    ...described,
    ...(field.extend === undefined ? {} : { extendee: extendeeOf(field) }),
    // Of bytes the parser does not tell what was escaped.
    ...(options['default'] === undefined || field.type === 'bytes' ? {} : { defaultValue: String(options['default']) }),
    jsonName: field.jsonName,
    ...(oneof === undefined ? {} : { oneofIndex: oneof }),
    ...(isOptional ? { proto3Optional: true } : {}),
    ...(field.repeated && isPackable(field) ? packed : {}),
  }
}

const noOneofs: ReadonlyMap<protobuf.OneOf, number> = new Map()

/** Those that proto3 makes of an optional field come behind the others (docs/implementing_proto3_presence.md of Protobuf). */
function oneofsOf({ oneofsArray }: protobuf.Type): protobuf.OneOf[] {
  const isMade = ({ fieldsArray }: protobuf.OneOf) => fieldsArray[0]?.options?.['proto3_optional'] === true
  return [...oneofsArray.filter((one) => !isMade(one)), ...oneofsArray.filter(isMade)]
}

function extendeeOf(field: protobuf.Field): string {
  const extended = field.parent?.lookup(field.extend ?? '', [protobuf.Type])
  return extended?.fullName ?? field.extend ?? ''
}

function typeOf(
  name: string,
  resolved: protobuf.Type | protobuf.Enum | null,
): { readonly type: number; readonly typeName?: string } {
  if (resolved instanceof protobuf.Type) return { type: messageType, typeName: resolved.fullName }
  if (resolved instanceof protobuf.Enum) return { type: enumType, typeName: resolved.fullName }
  const type = typeNumbers[name]
  if (type === undefined) throw new Error(`the type ${name} is unknown`)
  return { type }
}

function isPackable({ type, resolvedType }: protobuf.Field): boolean {
  return !(resolvedType instanceof protobuf.Type) && type !== 'string' && type !== 'bytes'
}

function mapEntry(field: protobuf.MapField): MessageDescriptor {
  const label = labels.optional
  return {
    name: entryName(field),
    field: [
      { name: 'key', jsonName: 'key', number: 1, label, ...typeOf(field.keyType, null) },
      { name: 'value', jsonName: 'value', number: 2, label, ...typeOf(field.type, field.resolvedType) },
    ],
    options: { mapEntry: true },
  }
}

/** As protoc calls it. */
function entryName({ name }: { readonly name: string }): string {
  return `_${name}`.replaceAll(/_+(.?)/g, (_, letter: string) => letter.toUpperCase()).concat('Entry')
}

function enumDescriptor(type: protobuf.Enum): EnumDescriptor {
  const aliased = new Set(Object.values(type.values)).size < Object.keys(type.values).length
  return {
    name: type.name,
    value: Object.entries(type.values).map(([name, number]) => ({ name, number })),
    reservedRange: ranges(type.reserved, 0),
    reservedName: (type.reserved ?? []).filter((one) => typeof one === 'string'),
    ...(aliased ? { options: { allowAlias: true } } : {}),
  }
}

function serviceDescriptor(service: protobuf.Service): ServiceDescriptor {
  return {
    name: service.name,
    method: service.methodsArray.map((method) => {
      method.resolve()
      return {
        name: method.name,
        inputType: method.resolvedRequestType?.fullName ?? method.requestType,
        outputType: method.resolvedResponseType?.fullName ?? method.responseType,
        ...(method.requestStream === true ? { clientStreaming: true } : {}),
        ...(method.responseStream === true ? { serverStreaming: true } : {}),
      }
    }),
  }
}

/** @param toEnd what to add to a last number for it to be the end */
function ranges(given: readonly (number[] | string)[] | undefined, toEnd: number) {
  return (given ?? []).flatMap((one) => {
    if (typeof one === 'string') return []
    const [start = 0, last = start] = one
    return [{ start, end: last + toEnd }]
  })
}

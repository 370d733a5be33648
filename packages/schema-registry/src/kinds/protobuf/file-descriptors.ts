import protobuf from 'protobufjs'
import descriptor, { type IFileDescriptorProto } from 'protobufjs/ext/descriptor.js'

/** The messages of descriptor.proto. */
const descriptors = descriptor as unknown as protobuf.Namespace

/** As JSON, for files that extend its options. */
export function descriptorTypes(): protobuf.INamespace {
  return descriptors.root.toJSON()
}

/** What a text in base64 describes; null if it is none. `.proto` text has characters that base64 has not. */
export function decodeDescriptor(text: string): IFileDescriptorProto | null {
  const trimmed = text.trim()
  if (trimmed === '' || !/^[A-Za-z0-9+/\s]+={0,2}$/.test(trimmed)) return null
  const bytes = Buffer.from(trimmed, 'base64')
  return descriptors.lookupType('FileDescriptorProto').decode(bytes) as IFileDescriptorProto
}

/** Adds what it defines under the name of its file, and gives what it imports. */
export function addDescriptor(root: protobuf.Root, fileName: string, file: IFileDescriptorProto): readonly string[] {
  const { messageType = [], enumType = [], extension = [], options } = file
  const parent = file.package ? root.define(file.package) : root
  const context = { edition: editionOf(file), keepCase: true, ...features(options) }
  for (const message of messageType) add(parent, protobuf.Type.fromDescriptor(message, context), fileName)
  for (const one of enumType) add(parent, protobuf.Enum.fromDescriptor(one, context), fileName)
  for (const field of extension) parent.add(protobuf.Field.fromDescriptor(field, context))
  return (file.dependency as readonly string[] | undefined) ?? []
}

function add(parent: protobuf.Namespace, object: protobuf.ReflectionObject, fileName: string): void {
  object.filename = fileName
  parent.add(object)
}

function editionOf({ syntax, edition }: IFileDescriptorProto): string {
  if (syntax === 'proto3') return 'proto3'
  if (syntax !== 'editions') return 'proto2'
  const name = descriptors.lookupEnum('Edition').valuesById[Number(edition)]
  return name?.replace('EDITION_', '') ?? 'proto2'
}

/** As protobufjs has them on what it parsed: names of values. */
function features(options: IFileDescriptorProto['options']): { readonly features?: Record<string, string> } {
  const set = (options as { readonly features?: protobuf.Message } | undefined)?.features
  if (set === undefined || set === null) return {}
  const named = descriptors.lookupType('FeatureSet').toObject(set, { enums: String }) as Record<string, string>
  return {
    features: Object.fromEntries(
      Object.entries(named).map(([key, value]) => [
        key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value,
      ]),
    ),
  }
}

import type { ProtoEnum, ProtoField, ProtoFile, ProtoMessage } from './proto-model.ts'

/**
 * All that a file says of its values, in order: the same for texts that differ in white space, comments, order of fields and how
 * names are written, and for a text and its descriptor. Options that change no value (packages of languages, custom ones) and
 * services are not in it.
 */
export function canonicalProto(file: ProtoFile): unknown {
  return {
    package: file.package,
    // Their order is what message indexes count.
    messages: file.messages.map(canonicalMessage),
    enums: canonicalEnums(file.enums),
  }
}

function canonicalMessage(message: ProtoMessage): unknown {
  return {
    name: message.name,
    fields: message.fields.map(canonicalField),
    messages: message.messages.map(canonicalMessage),
    enums: canonicalEnums(message.enums),
    reserved: message.reserved.map((one) => JSON.stringify(one)).sort(),
    extensions: message.extensions.map((one) => JSON.stringify(one)).sort(),
  }
}

function canonicalField({
  type,
  name,
  number,
  label,
  oneof,
  hasPresence,
  isPacked,
  isDelimited,
  isUtf8Verified,
  default: fallback,
}: ProtoField): unknown {
  const isMap = typeof type === 'object' && type.kind === 'message' && type.isMapEntry
  return {
    name,
    number,
    type: typeof type === 'string' ? type : isMap ? type.fields.map(canonicalField) : type.fullName,
    label,
    oneof,
    hasPresence,
    isPacked,
    isDelimited,
    isUtf8Verified,
    default: String(fallback),
  }
}

function canonicalEnums(enums: readonly ProtoEnum[]): unknown {
  return [...enums]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, values, isClosed }) => ({ name, values: [...values].sort(byNumber), isClosed }))
}

function byNumber([aName, a]: [string, number], [bName, b]: [string, number]): number {
  return a - b || (aName < bName ? -1 : 1)
}

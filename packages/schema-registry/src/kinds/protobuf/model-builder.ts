import protobuf from 'protobufjs'
import { SchemaRefusal } from '../schema-kind.ts'
import { type ProtoEnum, type ProtoField, type ProtoFile, type ProtoMessage, scalarTypes } from './proto-model.ts'

const numberMax = 2 ** 29 - 1
/** Kept for Protobuf's own implementations. */
const reservedNumbers = { from: 19_000, to: 19_999 }

/** Makes our model of what protobufjs has read, and checks what it has not. Throws `SchemaRefusal`. */
export class ModelBuilder {
  readonly #messages = new Map<protobuf.Type, ProtoMessage>()
  readonly #enums = new Map<protobuf.Enum, ProtoEnum>()

  file(root: protobuf.Root, fileName: string): ProtoFile {
    const defined = definedIn(root, fileName)
    const [first] = defined
    if (first === undefined) throw new SchemaRefusal('', 'the file defines no message and no enum')
    return {
      package: first.parent instanceof protobuf.Namespace ? withoutDot(first.parent.fullName) : '',
      messages: defined.filter((one) => one instanceof protobuf.Type).map((type) => this.#message(type)),
      enums: defined.filter((one) => one instanceof protobuf.Enum).map((one) => this.#enum(one)),
    }
  }

  #message(type: protobuf.Type): ProtoMessage {
    const known = this.#messages.get(type)
    if (known !== undefined) return known
    const message: ProtoMessage = {
      kind: 'message',
      name: type.name,
      fullName: withoutDot(type.fullName),
      fields: [],
      messages: [],
      enums: [],
      reserved: (type.reserved ?? []) as ProtoMessage['reserved'],
      extensions: (type.extensions ?? []) as unknown as ProtoMessage['extensions'],
      isMapEntry: false,
    }
    this.#messages.set(type, message)
    for (const nested of type.nestedArray) {
      if (nested instanceof protobuf.Type) message.messages.push(this.#message(nested))
      else if (nested instanceof protobuf.Enum) message.enums.push(this.#enum(nested))
    }
    for (const field of type.fieldsArray) {
      // An extension is in its message under a name of its own; to those who do not know it, it is an unknown field.
      if (field.declaringField === null) message.fields.push(this.#field(field, message))
    }
    message.fields.sort((a, b) => a.number - b.number)
    return message
  }

  #field(field: protobuf.Field, message: ProtoMessage): ProtoField {
    const place = `/${message.fullName}/${field.name}`
    const { id: number } = field
    if (number < 1 || number > numberMax || (number >= reservedNumbers.from && number <= reservedNumbers.to)) {
      throw new SchemaRefusal(place, `${number} is no field number`)
    }
    const isRepeated = field.repeated || field.map
    const features = featuresOf(field)
    return {
      name: field.name,
      number,
      type: field instanceof protobuf.MapField ? this.#mapEntry(field, message, place) : this.#typeOf(field, place),
      label: isRepeated ? 'repeated' : field.required ? 'required' : 'optional',
      oneof: field.partOf !== null && field.options?.['proto3_optional'] !== true ? field.partOf.name : null,
      hasPresence: field.resolvedType instanceof protobuf.Type ? !isRepeated : Boolean(field.hasPresence),
      isPacked: field.repeated && field.packed && isPackable(field),
      isDelimited: field.delimited && !field.map,
      isUtf8Verified: features['utf8_validation'] === 'VERIFY',
      default: field.options?.['default'] ?? null,
    }
  }

  #typeOf({ resolvedType, type }: protobuf.FieldBase, place: string): ProtoField['type'] {
    if (resolvedType instanceof protobuf.Type) return this.#message(resolvedType)
    if (resolvedType instanceof protobuf.Enum) return this.#enum(resolvedType)
    if (scalarTypes.includes(type)) return type
    throw new SchemaRefusal(place, `no type is called ${JSON.stringify(type)}`)
  }

  /** What a map is on the wire. */
  #mapEntry(field: protobuf.MapField, message: ProtoMessage, place: string): ProtoMessage {
    const name = `${field.name.replace(/(^|_)(.)/g, (_, _dash, letter: string) => letter.toUpperCase())}Entry`
    const member: Omit<ProtoField, 'name' | 'number' | 'type'> = {
      label: 'optional',
      oneof: null,
      hasPresence: true,
      isPacked: false,
      isDelimited: false,
      isUtf8Verified: featuresOf(field)['utf8_validation'] === 'VERIFY',
      default: null,
    }
    return {
      kind: 'message',
      name,
      fullName: `${message.fullName}.${name}`,
      fields: [
        { ...member, name: 'key', number: 1, type: field.keyType },
        { ...member, name: 'value', number: 2, type: this.#typeOf(field, place) },
      ],
      messages: [],
      enums: [],
      reserved: [],
      extensions: [],
      isMapEntry: true,
    }
  }

  #enum(type: protobuf.Enum): ProtoEnum {
    const known = this.#enums.get(type)
    if (known !== undefined) return known
    const fullName = withoutDot(type.fullName)
    const values = new Map(Object.entries(type.values))
    const isClosed = featuresOf(type)['enum_type'] === 'CLOSED'
    const [first] = values.values()
    if (first === undefined) throw new SchemaRefusal(`/${fullName}`, 'an enum without values')
    if (!isClosed && first !== 0) throw new SchemaRefusal(`/${fullName}`, 'the first value of an open enum is 0')
    const result: ProtoEnum = { kind: 'enum', name: type.name, fullName, values, isClosed }
    this.#enums.set(type, result)
    return result
  }
}

function isPackable({ type, resolvedType }: protobuf.Field): boolean {
  return type !== 'string' && type !== 'bytes' && !(resolvedType instanceof protobuf.Type)
}

/** What a file defines itself, in the order of its text; all of it is in one package. */
function definedIn(namespace: protobuf.NamespaceBase, fileName: string): (protobuf.Type | protobuf.Enum)[] {
  const found: (protobuf.Type | protobuf.Enum)[] = []
  for (const nested of namespace.nestedArray) {
    if (nested instanceof protobuf.Type || nested instanceof protobuf.Enum) {
      if (nested.filename === fileName) found.push(nested)
    } else if (nested instanceof protobuf.Namespace && !(nested instanceof protobuf.Service)) {
      found.push(...definedIn(nested, fileName))
    }
  }
  return found
}

/** Those of the syntax or edition and what overrides them; protobufjs resolves them, and has no other way to ask. */
function featuresOf(object: protobuf.ReflectionObject): Readonly<Record<string, string>> {
  return (object as unknown as { readonly _features: Readonly<Record<string, string>> })._features
}

function withoutDot(fullName: string): string {
  return fullName.startsWith('.') ? fullName.slice(1) : fullName
}

import type { ValueProblem } from '../schema-kind.ts'
import { ValueRefusal } from '../value-refusal.ts'
import type { ProtoEnum, ProtoField, ProtoMessage } from './proto-model.ts'
import { depthMax, WireReader, wireTypes } from './wire-reader.ts'

/**
 * Holds values to a message: that they are whole in Protobuf's wire format, that what they have under the numbers of fields is of
 * the fields' types, that strings are UTF-8 where the syntax wants it and that required fields are there. Fields of other numbers
 * are unknown fields, which Protobuf allows everywhere. No value is made.
 */
export class MessageChecks {
  readonly #checks = new Map<ProtoMessage, MessageCheck>()
  readonly #reader = new WireReader()

  validate(message: ProtoMessage, bytes: Uint8Array): ValueProblem | null {
    const reader = this.#reader
    reader.open(bytes)
    try {
      walkMessage(this.#checkOf(message), reader, bytes.length, 0, 1)
      return null
    } catch (error) {
      if (error instanceof ValueRefusal) return { path: error.path, reason: error.reason }
      throw error
    }
  }

  #checkOf(message: ProtoMessage): MessageCheck {
    const known = this.#checks.get(message)
    if (known !== undefined) return known
    const check: MessageCheck = { fields: [], farFields: new Map(), required: [] }
    this.#checks.set(message, check)
    for (const field of message.fields) {
      const one = this.#fieldCheck(field, check.required.length)
      if (field.label === 'required') check.required.push(field.name)
      if (field.number < nearNumbers) check.fields[field.number] = one
      else check.farFields.set(field.number, one)
    }
    return check
  }

  #fieldCheck(field: ProtoField, requiredIndex: number): FieldCheck {
    const { type } = field
    const isMessage = typeof type === 'object' && type.kind === 'message'
    const base = {
      name: field.name,
      isRepeated: field.label === 'repeated',
      requiredIndex: field.label === 'required' ? requiredIndex : -1,
      message: isMessage ? this.#checkOf(type) : null,
      isUtf8: type === 'string' && field.isUtf8Verified,
      closedEnum: typeof type === 'object' && type.kind === 'enum' && type.isClosed ? numbersOf(type) : null,
    }
    const wireType = isMessage
      ? field.isDelimited
        ? wireTypes.startGroup
        : wireTypes.length
      : typeof type === 'object'
        ? wireTypes.varint
        : (scalarWireTypes[type] ?? wireTypes.length)
    return { ...base, wireType }
  }
}

/** Fields of smaller numbers are found in an array. */
const nearNumbers = 256

interface MessageCheck {
  readonly fields: FieldCheck[]
  readonly farFields: Map<number, FieldCheck>
  /** Names, in the order of `requiredIndex`. */
  readonly required: string[]
}

interface FieldCheck {
  readonly name: string
  readonly wireType: number
  readonly isRepeated: boolean
  /** -1 of fields that are not required. */
  readonly requiredIndex: number
  readonly message: MessageCheck | null
  readonly isUtf8: boolean
  readonly closedEnum: ReadonlySet<number> | null
}

const scalarWireTypes: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    ['int32', 'uint32', 'sint32', 'int64', 'uint64', 'sint64', 'bool'].map((type) => [type, wireTypes.varint]),
  ),
  ...Object.fromEntries(['fixed32', 'sfixed32', 'float'].map((type) => [type, wireTypes.fixed32])),
  ...Object.fromEntries(['fixed64', 'sfixed64', 'double'].map((type) => [type, wireTypes.fixed64])),
}

function numbersOf({ values }: ProtoEnum): ReadonlySet<number> {
  return new Set(values.values())
}

/** From where the reader is to `end`; a message in a group (`group` is its number, else 0) ends at its end tag. */
function walkMessage(check: MessageCheck, reader: WireReader, end: number, group: number, depth: number): void {
  if (depth > depthMax) throw new ValueRefusal(`messages nest deeper than ${depthMax}`)
  const { fields, farFields, required } = check
  const from = reader.at
  const outerEnd = reader.end
  reader.end = end
  const seen = required.length === 0 ? null : new Set<number>()
  for (;;) {
    if (reader.at === end) {
      if (group !== 0) reader.truncated()
      break
    }
    const fieldAt = reader.at
    const tag = reader.uint32()
    const number = tag >>> 3
    const wireType = tag & 7
    if (wireType === wireTypes.endGroup && group !== 0 && number === group) break
    if (number === 0) throw new ValueRefusal('a field of the number 0')
    const field = number < nearNumbers ? fields[number] : farFields.get(number)
    if (field === undefined) {
      reader.skipField(number, wireType, depth)
      continue
    }
    try {
      const isKnown = walkField(field, number, wireType, reader, depth)
      if (isKnown && field.requiredIndex >= 0) seen?.add(field.requiredIndex)
    } catch (error) {
      if (error instanceof ValueRefusal) {
        const index = field.isRepeated ? `/${occurrencesBefore(reader.bytes, from, fieldAt, number)}` : ''
        error.path = `/${field.name}${index}${error.path}`
      }
      throw error
    }
  }
  if (seen !== null && seen.size < required.length) {
    const missing = required.find((_, index) => !seen.has(index))
    throw new ValueRefusal(`the required field ${missing} is missing`)
  }
  reader.end = outerEnd
}

/** False if what is there counts as an unknown field: a number that a closed enum has no name for. */
function walkField(field: FieldCheck, number: number, wireType: number, reader: WireReader, depth: number): boolean {
  if (wireType === field.wireType) {
    switch (wireType) {
      case wireTypes.varint: {
        const value = reader.varint()
        return field.closedEnum === null || field.closedEnum.has(value)
      }
      case wireTypes.fixed32:
        reader.skip(4)
        return true
      case wireTypes.fixed64:
        reader.skip(8)
        return true
      case wireTypes.startGroup:
        walkMessage(field.message as MessageCheck, reader, reader.end, number, depth + 1)
        return true
      default: {
        const length = reader.uint32()
        if (field.message !== null) {
          const end = reader.at + length
          if (end > reader.end) throw new ValueRefusal(`${length} bytes, where ${reader.end - reader.at} are left`)
          walkMessage(field.message, reader, end, 0, depth + 1)
        } else if (field.isUtf8) {
          reader.utf8(length)
        } else {
          reader.skip(length)
        }
        return true
      }
    }
  }
  // Repeated numbers may be packed or not, whatever the field says: readers have to take both.
  const isPackable = field.message === null && field.wireType !== wireTypes.length
  if (wireType === wireTypes.length && field.isRepeated && isPackable) {
    walkPacked(field, reader)
    return true
  }
  throw new ValueRefusal(`the wire type ${wireType}, where ${field.wireType} is declared`)
}

function walkPacked(field: FieldCheck, reader: WireReader): void {
  const length = reader.uint32()
  const end = reader.at + length
  if (end > reader.end) throw new ValueRefusal(`${length} bytes, where ${reader.end - reader.at} are left`)
  const outerEnd = reader.end
  reader.end = end
  if (field.wireType === wireTypes.varint) {
    while (reader.at < end) reader.varint()
  } else {
    const size = field.wireType === wireTypes.fixed32 ? 4 : 8
    if (length % size !== 0) throw new ValueRefusal(`${length} bytes of packed numbers of ${size} bytes`)
    reader.skip(length)
  }
  reader.end = outerEnd
}

/** How often a field stands between two places of a message that is known to be whole between them. */
function occurrencesBefore(bytes: Uint8Array, from: number, to: number, number: number): number {
  const reader = new WireReader()
  reader.open(bytes.subarray(0, to))
  reader.at = from
  let count = 0
  while (reader.at < to) {
    const tag = reader.uint32()
    if (tag >>> 3 === number) count++
    reader.skipField(tag >>> 3, tag & 7, 0)
  }
  return count
}

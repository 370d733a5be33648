import type { SchemaProblem } from '../../schema.ts'
import type { ProtoField, ProtoFile, ProtoMessage } from './proto-model.ts'

/**
 * Why data written with `writer` cannot be read with `reader`: the rules of Confluent's registry, which are those of Protobuf's guide
 * ("Updating A Message Type"). Two of ours besides: a field keeps its number, and the first message stays first, for values that do
 * not say which message they are of are of that one. Paths are full names of messages, then fields.
 */
export function protoIncompatibilities(reader: ProtoFile, writer: ProtoFile): readonly SchemaProblem[] {
  const problems: SchemaProblem[] = []
  if (reader.package !== writer.package) {
    problems.push({
      path: '',
      reason: `the package was ${writer.package || 'none'} and is ${reader.package || 'none'}`,
    })
  }
  const [first, wasFirst] = [reader.messages[0], writer.messages[0]]
  if (first !== undefined && wasFirst !== undefined && first.name !== wasFirst.name) {
    problems.push({ path: '', reason: `the first message was ${wasFirst.name} and is ${first.name}` })
  }
  const comparison = new Comparison()
  problems.push(...messagesProblems(reader.messages, writer.messages, comparison))
  return problems
}

function messagesProblems(
  readers: readonly ProtoMessage[],
  writers: readonly ProtoMessage[],
  comparison: Comparison,
): SchemaProblem[] {
  const byName = new Map(readers.map((message) => [message.name, message]))
  return writers.flatMap((written) => {
    const message = byName.get(written.name)
    if (message === undefined) return [{ path: `/${written.fullName}`, reason: 'the message is removed' }]
    return [
      ...comparison.problems(message, written, `/${written.fullName}`),
      ...messagesProblems(message.messages, written.messages, comparison),
    ]
  })
}

/** Types of one group are written alike, and read as each other. An enum is written as an int32. */
const groups: readonly (readonly string[])[] = [
  ['int32', 'uint32', 'int64', 'uint64', 'bool', 'enum'],
  ['sint32', 'sint64'],
  ['string', 'bytes'],
  ['fixed32', 'sfixed32'],
  ['fixed64', 'sfixed64'],
  ['float'],
  ['double'],
]

class Comparison {
  /** Messages under comparison, or compared and found compatible: as long as nothing is found against them they are. */
  readonly #assumed = new Map<ProtoMessage, Set<ProtoMessage>>()
  readonly #inOrder: [ProtoMessage, ProtoMessage][] = []

  problems(reader: ProtoMessage, writer: ProtoMessage, path: string): readonly SchemaProblem[] {
    const assumed = this.#assumed.get(reader) ?? new Set()
    this.#assumed.set(reader, assumed)
    if (assumed.has(writer)) return []
    const before = this.#inOrder.length
    assumed.add(writer)
    this.#inOrder.push([reader, writer])
    const problems = [...this.#fieldsProblems(reader, writer, path), ...oneofProblems(reader, writer, path)]
    if (problems.length > 0) {
      for (const [one, other] of this.#inOrder.splice(before)) this.#assumed.get(one)?.delete(other)
    }
    return problems
  }

  #fieldsProblems(reader: ProtoMessage, writer: ProtoMessage, path: string): SchemaProblem[] {
    const written = new Map(writer.fields.map((field) => [field.number, field]))
    const writtenByName = new Map(writer.fields.map((field) => [field.name, field]))
    const problems = reader.fields.flatMap((field) => {
      const place = `${path}/${field.name}`
      const old = written.get(field.number)
      if (old !== undefined) return this.#fieldProblems(field, old, place)
      const sameName = writtenByName.get(field.name)
      if (sameName !== undefined) {
        return [{ path: place, reason: `the field had the number ${sameName.number} and has ${field.number}` }]
      }
      return field.label === 'required' ? [{ path: place, reason: 'a required field is added' }] : []
    })
    return problems
  }

  #fieldProblems(field: ProtoField, old: ProtoField, place: string): readonly SchemaProblem[] {
    if (field.label === 'required' && old.label !== 'required')
      return [{ path: place, reason: 'the field is required now' }]
    const { type } = field
    const { type: oldType } = old
    if (isMessage(type) && isMessage(oldType)) {
      if (field.isDelimited !== old.isDelimited)
        return [{ path: place, reason: 'a group is written otherwise than a message' }]
      return this.problems(type, oldType, place)
    }
    if (isMessage(type) || isMessage(oldType) || groupOf(type) !== groupOf(oldType)) {
      return [{ path: place, reason: `the type was ${nameOf(oldType)} and is ${nameOf(type)}` }]
    }
    const isNumber = type !== 'string' && type !== 'bytes'
    if (isNumber && (field.label === 'repeated') !== (old.label === 'repeated')) {
      return [{ path: place, reason: `numbers that were ${old.label} are ${field.label}` }]
    }
    return []
  }
}

/** Only one field of a oneof is read, so no two may have been written together, and none that was one of several may be missing. */
function oneofProblems(reader: ProtoMessage, writer: ProtoMessage, path: string): SchemaProblem[] {
  const numbers = new Set(reader.fields.map((field) => field.number))
  const written = new Map(writer.fields.map((field) => [field.number, field]))
  const keptOneofs = new Set(
    writer.fields.filter((field) => field.oneof !== null && numbers.has(field.number)).map((field) => field.oneof),
  )
  const problems: SchemaProblem[] = writer.fields
    .filter((field) => field.oneof !== null && keptOneofs.has(field.oneof) && !numbers.has(field.number))
    .map((field) => ({ path: `${path}/${field.name}`, reason: `the field is removed from the oneof ${field.oneof}` }))
  for (const oneof of new Set(reader.fields.map((field) => field.oneof))) {
    if (oneof === null) continue
    const old = reader.fields
      .filter((field) => field.oneof === oneof)
      .map((field) => written.get(field.number))
      .filter((field) => field !== undefined)
    const choices = new Set(old.map((field) => field.oneof ?? field.number))
    if (choices.size < 2) continue
    const names = old.map((field) => field.name).join(', ')
    problems.push({ path: `${path}/${oneof}`, reason: `of ${names}, more than one may have been written` })
  }
  return problems
}

function isMessage(type: ProtoField['type']): type is ProtoMessage {
  return typeof type === 'object' && type.kind === 'message'
}

function groupOf(type: ProtoField['type']): readonly string[] | undefined {
  const name = typeof type === 'string' ? type : 'enum'
  return groups.find((group) => group.includes(name))
}

function nameOf(type: ProtoField['type']): string {
  return typeof type === 'string' ? type : type.fullName
}

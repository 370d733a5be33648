import type { SchemaProblem } from '../../schema.ts'
import {
  type AvroType,
  type EnumType,
  type FixedType,
  type Primitive,
  type PrimitiveType,
  type RecordField,
  type RecordType,
  simpleName,
  typeName,
} from './avro-model.ts'

/** Why data of the type `writer` cannot be read as `reader`: the rules of the specification (1.12, "Schema Resolution"). */
export function avroIncompatibilities(reader: AvroType, writer: AvroType): readonly SchemaProblem[] {
  return new Resolution().problems(reader, writer, '')
}

/** What each primitive may be read as, besides itself. */
const promotions: Readonly<Partial<Record<Primitive, readonly Primitive[]>>> = {
  int: ['long', 'float', 'double'],
  long: ['float', 'double'],
  float: ['double'],
  string: ['bytes'],
  bytes: ['string'],
}

class Resolution {
  /** Records under comparison, or compared: as long as nothing is found against them they are compatible (recursive types). */
  readonly #assumed = new Map<RecordType, Set<RecordType>>()
  readonly #inOrder: [RecordType, RecordType][] = []

  problems(reader: AvroType, writer: AvroType, path: string): readonly SchemaProblem[] {
    if (writer.kind === 'union') {
      return writer.branches.flatMap((branch) => this.problems(reader, branch, path))
    }
    if (reader.kind === 'union') {
      const isRead = reader.branches.some((branch) => this.problems(branch, writer, path).length === 0)
      if (isRead) return []
      // One that is of the same kind and name says why; others have nothing to do with it.
      const index = reader.branches.findIndex((branch) => typeName(branch) === typeName(writer))
      const branch = reader.branches[index]
      if (branch !== undefined) return this.problems(branch, writer, `${path}/${index}`)
      return [{ path, reason: `the union has no branch for ${typeName(writer)}` }]
    }
    if (reader.kind === 'record' && writer.kind === 'record') return this.#records(reader, writer, path)
    if (reader.kind === 'enum' && writer.kind === 'enum') return this.#enums(reader, writer, path)
    if (reader.kind === 'fixed' && writer.kind === 'fixed') return this.#fixed(reader, writer, path)
    if (reader.kind === 'array' && writer.kind === 'array')
      return this.problems(reader.items, writer.items, `${path}/items`)
    if (reader.kind === 'map' && writer.kind === 'map')
      return this.problems(reader.values, writer.values, `${path}/values`)
    if (isPrimitive(reader) && isPrimitive(writer)) {
      const isRead = reader.kind === writer.kind || (promotions[writer.kind]?.includes(reader.kind) ?? false)
      if (isRead) return decimalProblems(reader, writer, path)
    }
    return [{ path, reason: `${typeName(writer)} was written, which cannot be read as ${typeName(reader)}` }]
  }

  #records(reader: RecordType, writer: RecordType, path: string): readonly SchemaProblem[] {
    if (!isNameKnown(reader, writer)) return [nameProblem(reader, writer, path)]
    const assumed = this.#assumed.get(reader) ?? new Set()
    this.#assumed.set(reader, assumed)
    if (assumed.has(writer)) return []
    const before = this.#inOrder.length
    assumed.add(writer)
    this.#inOrder.push([reader, writer])

    const problems = reader.fields.flatMap((field, index) => this.#field(field, writer, `${path}/fields/${index}`))
    if (problems.length > 0) {
      // What was shown with the help of this may not hold either.
      for (const [one, other] of this.#inOrder.splice(before)) this.#assumed.get(one)?.delete(other)
    }
    return problems
  }

  #field(field: RecordField, writer: RecordType, path: string): readonly SchemaProblem[] {
    const written =
      writer.fields.find(({ name }) => name === field.name) ??
      writer.fields.find(({ name }) => field.aliases.includes(name))
    if (written !== undefined) return this.problems(field.type, written.type, `${path}/type`)
    if (field.hasDefault) return []
    return [{ path, reason: `the field ${JSON.stringify(field.name)} was not written and has no default` }]
  }

  #enums(reader: EnumType, writer: EnumType, path: string): readonly SchemaProblem[] {
    if (!isNameKnown(reader, writer)) return [nameProblem(reader, writer, path)]
    const missing = writer.symbols.filter((symbol) => !reader.symbols.includes(symbol))
    if (missing.length === 0 || reader.default !== null) return []
    const shown = missing.slice(0, 10).join(', ')
    return [{ path: `${path}/symbols`, reason: `${shown} may have been written, and there is no default` }]
  }

  #fixed(reader: FixedType, writer: FixedType, path: string): readonly SchemaProblem[] {
    if (!isNameKnown(reader, writer)) return [nameProblem(reader, writer, path)]
    if (reader.size === writer.size) return decimalProblems(reader, writer, path)
    return [{ path: `${path}/size`, reason: `${writer.size} bytes were written where ${reader.size} are read` }]
  }
}

/** By the name without its namespace, or an alias. */
function isNameKnown(reader: RecordType | EnumType | FixedType, writer: RecordType | EnumType | FixedType): boolean {
  return simpleName(reader.fullName) === simpleName(writer.fullName) || reader.aliases.includes(writer.fullName)
}

function nameProblem(
  reader: RecordType | EnumType | FixedType,
  writer: RecordType | EnumType | FixedType,
  path: string,
): SchemaProblem {
  return { path: `${path}/name`, reason: `${writer.fullName} was written, which ${reader.fullName} is not called` }
}

/** Two decimals match if their scale and precision do. */
function decimalProblems(
  reader: PrimitiveType | FixedType,
  writer: PrimitiveType | FixedType,
  path: string,
): SchemaProblem[] {
  const [read, written] = [reader.attributes, writer.attributes]
  if (read['logicalType'] !== 'decimal' || written['logicalType'] !== 'decimal') return []
  return ['precision', 'scale']
    .filter((key) => (read[key] ?? 0) !== (written[key] ?? 0))
    .map((key) => ({
      path: `${path}/${key}`,
      reason: `decimals of ${key} ${written[key] ?? 0} were written where ${read[key] ?? 0} is read`,
    }))
}

function isPrimitive(type: AvroType): type is PrimitiveType {
  return !['record', 'enum', 'fixed', 'array', 'map', 'union'].includes(type.kind)
}

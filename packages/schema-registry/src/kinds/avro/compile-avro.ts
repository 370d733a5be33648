import { isStackOverflow, pointerStep, type ValueProblem } from '../schema-kind.ts'
import { ValueRefusal } from '../value-refusal.ts'
import type { ArrayType, AvroType, EnumType, MapType, RecordType, UnionType } from './avro-model.ts'
import { AvroReader } from './avro-reader.ts'

/** Passes over one datum of a type. */
type Walk = (reader: AvroReader) => void

/** As many items of no bytes at all, such as nulls, a value may have: a few bytes can claim any number, and readers would make them. */
const emptyItemsMax = 100_000

/** Holds values to a type: exactly one datum in Avro's binary encoding. No value is made; what it costs is its bytes. */
export function compileAvro(type: AvroType): (bytes: Uint8Array) => ValueProblem | null {
  const walk = new Compiler().walkOf(type)
  const reader = new AvroReader()
  return (bytes) => {
    reader.open(bytes)
    try {
      walk(reader)
    } catch (error) {
      if (error instanceof ValueRefusal) return { path: bounded(error.path), reason: error.reason }
      if (isStackOverflow(error)) return { path: '', reason: 'the value nests too deeply' }
      throw error
    }
    return reader.left === 0 ? null : { path: '', reason: `${reader.left} bytes follow the datum` }
  }
}

/** Keys of maps may be as long as values. */
function bounded(path: string): string {
  return path.length > 300 ? `${path.slice(0, 300)}…` : path
}

class Compiler {
  /** A record is known before its fields are. */
  readonly #records = new Map<RecordType, Walk>()
  readonly #leastBytes = new Map<RecordType, number>()

  walkOf(type: AvroType): Walk {
    switch (type.kind) {
      case 'null':
        return () => {}
      case 'boolean':
        return (reader) => reader.boolean()
      case 'int':
        return (reader) => {
          reader.int()
        }
      case 'long':
        return (reader) => reader.skipLong()
      case 'float':
        return (reader) => reader.skip(4)
      case 'double':
        return (reader) => reader.skip(8)
      case 'bytes':
        return (reader) => reader.bytesField()
      case 'string':
        return (reader) => reader.string()
      case 'fixed': {
        const { size } = type
        return (reader) => reader.skip(size)
      }
      case 'enum':
        return enumWalk(type)
      case 'array':
        return this.#arrayWalk(type)
      case 'map':
        return this.#mapWalk(type)
      case 'union':
        return this.#unionWalk(type)
      case 'record':
        return this.#recordWalk(type)
    }
  }

  #recordWalk(type: RecordType): Walk {
    const known = this.#records.get(type)
    if (known !== undefined) return known
    const fields: Walk[] = []
    const names = type.fields.map(({ name }) => pointerStep(name))
    const walk: Walk = (reader) => {
      let index = 0
      try {
        for (; index < fields.length; index++) (fields[index] as Walk)(reader)
      } catch (error) {
        if (error instanceof ValueRefusal) error.path = (names[index] as string) + error.path
        throw error
      }
    }
    this.#records.set(type, walk)
    for (const field of type.fields) fields.push(this.walkOf(field.type))
    return walk
  }

  #unionWalk({ branches }: UnionType): Walk {
    const walks = branches.map((branch) => this.walkOf(branch))
    return (reader) => {
      const index = reader.size()
      const walk = walks[index]
      if (walk === undefined) throw new ValueRefusal(`branch ${index} of a union of ${walks.length}`)
      walk(reader)
    }
  }

  #arrayWalk({ items }: ArrayType): Walk {
    const walk = this.walkOf(items)
    const leastBytes = this.#least(items)
    return (reader) => {
      let passed = 0
      for (let count = openBlock(reader, leastBytes); count > 0; count = openBlock(reader, leastBytes)) {
        const { blockEnd } = reader
        if (leastBytes === 0) countEmptyItems(reader, count)
        let index = 0
        try {
          for (; index < count; index++) walk(reader)
        } catch (error) {
          if (error instanceof ValueRefusal) error.path = pointerStep(passed + index) + error.path
          throw error
        }
        closeBlock(reader, blockEnd)
        passed += count
      }
    }
  }

  #mapWalk({ values }: MapType): Walk {
    const walk = this.walkOf(values)
    const leastBytes = 1 + this.#least(values)
    return (reader) => {
      for (let count = openBlock(reader, leastBytes); count > 0; count = openBlock(reader, leastBytes)) {
        const { blockEnd } = reader
        for (let i = 0; i < count; i++) {
          const keyAt = reader.at
          reader.string()
          const keyEnd = reader.at
          try {
            walk(reader)
          } catch (error) {
            if (error instanceof ValueRefusal) error.path = keyStep(reader.bytes, keyAt, keyEnd) + error.path
            throw error
          }
        }
        closeBlock(reader, blockEnd)
      }
    }
  }

  /** The fewest bytes that a datum of a type takes. */
  #least(type: AvroType): number {
    switch (type.kind) {
      case 'null':
        return 0
      case 'float':
        return 4
      case 'double':
        return 8
      case 'fixed':
        return type.size
      case 'record': {
        const known = this.#leastBytes.get(type)
        if (known !== undefined) return known
        // Within itself it takes at least nothing.
        this.#leastBytes.set(type, 0)
        const least = type.fields.reduce((sum, field) => sum + this.#least(field.type), 0)
        this.#leastBytes.set(type, least)
        return least
      }
      default:
        return 1
    }
  }
}

function enumWalk({ symbols }: EnumType): Walk {
  const count = symbols.length
  return (reader) => {
    const index = reader.int()
    if (index < 0 || index >= count) throw new ValueRefusal(`symbol ${index} of an enum of ${count}`)
  }
}

/** The count of items in the next block of an array or a map, 0 for none; a negative one has the block's bytes after it. */
function openBlock(reader: AvroReader, leastBytes: number): number {
  let count = reader.size()
  reader.blockEnd = -1
  if (count < 0) {
    count = -count
    const length = reader.size()
    if (length < 0 || length > reader.left)
      throw new ValueRefusal(`a block of ${length} bytes, where ${reader.left} are left`)
    reader.blockEnd = reader.at + length
  }
  if (count * leastBytes > reader.left) throw new ValueRefusal(`${count} items, where ${reader.left} bytes are left`)
  return count
}

function closeBlock(reader: AvroReader, blockEnd: number): void {
  if (blockEnd >= 0 && reader.at !== blockEnd) throw new ValueRefusal('a block of another length than it says')
}

function countEmptyItems(reader: AvroReader, count: number): void {
  reader.emptyItems += count
  if (reader.emptyItems > emptyItemsMax) throw new ValueRefusal(`${count} items that take no bytes`)
}

function keyStep(bytes: Uint8Array, at: number, end: number): string {
  const reader = new AvroReader()
  reader.open(bytes.subarray(at, end))
  reader.size()
  return pointerStep(new TextDecoder().decode(reader.bytes.subarray(reader.at)))
}

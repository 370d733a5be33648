import type { Attributes, AvroType } from './avro-model.ts'

/**
 * The schema with every name in full, every type in its shortest form and keys in order: the same for texts that differ in how
 * namespaces are written, as those of Java's and of other languages' serializers do. Defaults, docs and other attributes stay.
 */
export function canonicalAvro(type: AvroType): unknown {
  return new Canonical().of(type)
}

class Canonical {
  /** Defined already: from then on the name stands for the type. */
  readonly #defined = new Set<string>()

  of(type: AvroType): unknown {
    if (type.kind === 'union') return type.branches.map((branch) => this.of(branch))
    if ('fullName' in type) {
      if (this.#defined.has(type.fullName)) return type.fullName
      this.#defined.add(type.fullName)
    }
    switch (type.kind) {
      case 'record':
        return this.#object(type.kind, type.attributes, {
          name: type.fullName,
          ...listed('aliases', type.aliases),
          fields: type.fields.map((field) => {
            const { order, ...attributes } = field.attributes
            return {
              ...attributes,
              ...(order === undefined || order === 'ascending' ? {} : { order }),
              ...listed('aliases', field.aliases),
              ...(field.hasDefault ? { default: field.default } : {}),
              name: field.name,
              type: this.of(field.type),
            }
          }),
        })
      case 'enum':
        return this.#object(type.kind, type.attributes, {
          name: type.fullName,
          ...listed('aliases', type.aliases),
          symbols: type.symbols,
          ...(type.default === null ? {} : { default: type.default }),
        })
      case 'fixed':
        return this.#object(type.kind, type.attributes, {
          name: type.fullName,
          ...listed('aliases', type.aliases),
          size: type.size,
        })
      case 'array':
        return this.#object(type.kind, type.attributes, { items: this.of(type.items) })
      case 'map':
        return this.#object(type.kind, type.attributes, { values: this.of(type.values) })
      default:
        return Object.keys(type.attributes).length === 0 ? type.kind : this.#object(type.kind, type.attributes, {})
    }
  }

  #object(kind: string, attributes: Attributes, own: Attributes): unknown {
    return { ...attributes, ...own, type: kind }
  }
}

function listed(key: string, values: readonly string[]): Attributes {
  return values.length === 0 ? {} : { [key]: values }
}

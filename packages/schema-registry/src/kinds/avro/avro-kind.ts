import type { SchemaSource } from '../../schema.ts'
import { canonicalText } from '../canonical-text.ts'
import { refusals, type SchemaKindRules } from '../schema-kind.ts'
import { avroIncompatibilities } from './avro-incompatibilities.ts'
import type { AvroType } from './avro-model.ts'
import { canonicalAvro } from './canonical-avro.ts'
import { compileAvro } from './compile-avro.ts'
import { AvroParser } from './parse-avro-schema.ts'

/**
 * Avro 1.12 in its binary encoding. References are schemas whose named types a text may name. Logical types are attributes: a
 * value is held to the type beneath.
 */
export function createAvroKind(): SchemaKindRules {
  return {
    compile(source) {
      const outcome = refusals(() => {
        const type = read(source)
        return { canonical: canonicalText(canonicalAvro(type)), validate: compileAvro(type) }
      })
      return 'done' in outcome ? { compiled: outcome.done } : outcome
    },
    incompatibilities(reader, writer) {
      const outcome = refusals(() => avroIncompatibilities(read(reader), read(writer)))
      return 'done' in outcome ? outcome.done : outcome.problems
    },
  }
}

function read({ text, references }: SchemaSource): AvroType {
  const parser = new AvroParser()
  for (const reference of references) parser.parse(reference.text, `${reference.importName}#`)
  return parser.parse(text, '')
}

import { canonicalText } from '../canonical-text.ts'
import { refusals, type SchemaKindRules } from '../schema-kind.ts'
import { canonicalProto } from './canonical-proto.ts'
import { MessageChecks } from './compile-proto.ts'
import { protoIncompatibilities } from './proto-incompatibilities.ts'
import type { ProtoFile, ProtoMessage } from './proto-model.ts'
import { readProto } from './read-proto.ts'

/** Protobuf: proto2, proto3 and editions, in the binary wire format. References are files that a text may import. */
export function createProtobufKind(): SchemaKindRules {
  return {
    compile(source) {
      const outcome = refusals(() => {
        const file = readProto(source)
        const checks = new MessageChecks()
        return {
          canonical: canonicalText(canonicalProto(file)),
          validate: (bytes: Uint8Array, messageIndexes: readonly number[]) => {
            const message = messageAt(file, messageIndexes)
            if (message !== undefined) return checks.validate(message, bytes)
            return { path: '', reason: `the schema has no message of the indexes ${messageIndexes.join(', ')}` }
          },
        }
      })
      return 'done' in outcome ? { compiled: outcome.done } : outcome
    },
    incompatibilities(reader, writer) {
      const outcome = refusals(() => protoIncompatibilities(readProto(reader), readProto(writer)))
      return 'done' in outcome ? outcome.done : outcome.problems
    },
  }
}

/** Entries of maps are not counted, as in Confluent's serializers for Java and JavaScript. */
function messageAt(file: ProtoFile, indexes: readonly number[]): ProtoMessage | undefined {
  let found: ProtoMessage | undefined
  let messages = file.messages
  for (const index of indexes) {
    found = messages[index]
    if (found === undefined) return undefined
    messages = found.messages
  }
  return found
}

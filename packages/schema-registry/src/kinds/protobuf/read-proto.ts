import protobuf from 'protobufjs'
import type { SchemaSource } from '../../schema.ts'
import { isStackOverflow, SchemaRefusal } from '../schema-kind.ts'
import { addDescriptor, decodeDescriptor, descriptorTypes } from './file-descriptors.ts'
import { ModelBuilder } from './model-builder.ts'
import type { ProtoFile } from './proto-model.ts'

/** What a file may define, and who defined it. */
export type Definition = protobuf.Type | protobuf.Enum

/** Stands for the schema's own name, which it has not been told. */
const mainFile = ''

/**
 * Reads a schema with protobufjs: `.proto` text, or a FileDescriptorProto in base64, which is what Confluent's serializers for
 * Python and JavaScript register. Imports are found among the references and Protobuf's own well-known types, nowhere else.
 * Throws `SchemaRefusal`.
 */
export function readProto({ text, references }: SchemaSource): ProtoFile {
  const root = new protobuf.Root()
  const files = new Map(references.map(({ importName, text: imported }) => [importName, imported]))
  const loaded = new Set<string>()
  const load = (name: string, content: string): void => {
    loaded.add(name)
    const imports = atPath(name, () => addFile(root, name, content))
    for (const imported of imports) {
      if (loaded.has(imported)) continue
      const reference = files.get(imported)
      if (reference !== undefined) load(imported, reference)
      else if (!addWellKnown(root, imported, loaded)) {
        throw new SchemaRefusal(pathOf(name), `${JSON.stringify(imported)} is imported and not among the references`)
      }
    }
  }
  load(mainFile, text)
  return atPath(mainFile, () => {
    root.resolveAll()
    return new ModelBuilder().file(root, mainFile)
  })
}

/** The name that the parser gives to what it defines; its types do not have it. */
const parser = protobuf.parse as unknown as { filename: string | null }

/** Adds what a file defines, and gives what it imports. */
function addFile(root: protobuf.Root, name: string, content: string): readonly string[] {
  const descriptor = decodeDescriptor(content)
  if (descriptor !== null) return addDescriptor(root, name, descriptor)
  parser.filename = name
  try {
    const { imports = [], weakImports = [] } = protobuf.parse(content, root, { keepCase: true })
    return [...imports, ...weakImports]
  } finally {
    parser.filename = null
  }
}

function addWellKnown(root: protobuf.Root, name: string, loaded: Set<string>): boolean {
  const known = name === 'google/protobuf/descriptor.proto' ? descriptorTypes() : protobuf.common.get(name)
  if (known === null || known.nested === undefined) return false
  loaded.add(name)
  root.addJSON(known.nested)
  return true
}

/** protobufjs says what is wrong with plain errors. */
function atPath<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Error) || error instanceof SchemaRefusal || isStackOverflow(error)) throw error
    throw new SchemaRefusal(pathOf(file), error.message.slice(0, 300))
  }
}

function pathOf(file: string): string {
  return file === mainFile ? '' : `${file}#`
}

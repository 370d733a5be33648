import descriptor from 'protobufjs/ext/descriptor.js'
import {
  type EnumDescriptor,
  editions,
  enumType,
  type FieldDescriptor,
  type FileDescriptor,
  fieldTypes,
  labels,
  type MessageDescriptor,
  messageType,
  type NumberRange,
  type Options,
  type ServiceDescriptor,
} from './descriptor-messages.ts'

/** Deeper than any schema that somebody wrote. */
const depthMax = 64
const fieldNumberMax = 536_870_911

/**
 * The `.proto` file of a serialized file descriptor in base64, which is what Confluent's clients for Python and JavaScript register; null when
 * the text is none. What a descriptor alone has (places in the source, options that this version of descriptor.proto does not know)
 * is left out.
 */
export function protoTextOfDescriptor(text: string): string | null {
  const file = decodedFile(text)
  if (file === null) return null
  try {
    return printedFile(file)
  } catch (error) {
    if (error instanceof UnprintableError) return null
    throw error
  }
}

class UnprintableError extends Error {}

function decodedFile(text: string): FileDescriptor | null {
  // No file of a schema is without a space, a brace or a semicolon.
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null
  try {
    const file = descriptor.FileDescriptorProto.decode(Buffer.from(text, 'base64'))
    return descriptor.FileDescriptorProto.toObject(file, { longs: String, enums: Number }) as FileDescriptor
  } catch (error) {
    // Whatever a decoder meets in bytes that are no descriptor.
    if (error instanceof Error) return null
    throw error
  }
}

function printedFile(file: FileDescriptor): string {
  const { syntax = '' } = file
  const edition = file.edition === undefined ? undefined : editions[file.edition]
  if (syntax === 'editions' && edition === undefined) throw new UnprintableError(`edition ${file.edition}`)
  const lines = [syntax === 'editions' ? `edition = "${edition}";` : `syntax = "${syntax || 'proto2'}";`]
  if (file.package !== undefined && file.package !== '') lines.push(`package ${file.package};`)
  for (const [index, name] of (file.dependency ?? []).entries()) {
    const isPublic = file.publicDependency?.includes(index) === true
    const isWeak = file.weakDependency?.includes(index) === true
    lines.push(`import ${isPublic ? 'public ' : isWeak ? 'weak ' : ''}${quoted(name)};`)
  }
  lines.push(...optionLines(file.options))
  const printer = new Printer(syntax)
  for (const type of file.messageType ?? []) lines.push(...printer.message(type, 0))
  for (const type of file.enumType ?? []) lines.push(...enumLines(type))
  lines.push(...printer.extensions(file.extension))
  for (const service of file.service ?? []) lines.push(...serviceLines(service))
  return `${lines.join('\n')}\n`
}

class Printer {
  readonly #syntax: string

  constructor(syntax: string) {
    this.#syntax = syntax
  }

  message(type: MessageDescriptor, depth: number): string[] {
    if (depth > depthMax) throw new UnprintableError('too deep')
    const nested = type.nestedType ?? []
    const entries = new Map(nested.filter(isMapEntry).map((entry) => [entry.name, entry]))
    const lines = [...optionLines(type.options, ['mapEntry'])]
    lines.push(...reservedLines(type, -1, fieldNumberMax))
    for (const { start, end } of type.extensionRange ?? [])
      lines.push(`extensions ${rangeText(start, end - 1, fieldNumberMax)};`)
    const oneofs = new Set<number>()
    const membersOf = Map.groupBy(type.field ?? [], (field) => field.oneofIndex)
    for (const field of type.field ?? []) {
      const { oneofIndex } = field
      if (oneofIndex === undefined || field.proto3Optional === true) {
        lines.push(this.#fieldOrMap(field, entries))
      } else if (!oneofs.has(oneofIndex)) {
        oneofs.add(oneofIndex)
        const members = membersOf.get(oneofIndex) ?? []
        const name = type.oneofDecl?.[oneofIndex]?.name
        if (name === undefined) throw new UnprintableError('no such oneof')
        lines.push(
          ...block(
            `oneof ${name}`,
            members.map((member) => this.#field(member, false)),
          ),
        )
      }
    }
    for (const inner of nested) if (!isMapEntry(inner)) lines.push(...this.message(inner, depth + 1))
    for (const inner of type.enumType ?? []) lines.push(...enumLines(inner))
    lines.push(...this.extensions(type.extension))
    return block(`message ${type.name}`, lines)
  }

  extensions(fields: readonly FieldDescriptor[] | undefined): string[] {
    return [...Map.groupBy(fields ?? [], ({ extendee }) => extendee ?? '')].flatMap(([extendee, extending]) =>
      block(
        `extend ${extendee}`,
        extending.map((field) => this.#field(field, true)),
      ),
    )
  }

  #fieldOrMap(field: FieldDescriptor, entries: ReadonlyMap<string, MessageDescriptor>): string {
    const entry = field.type === messageType ? entries.get(lastName(field.typeName ?? '')) : undefined
    const [key, value] = entry?.field ?? []
    if (key === undefined || value === undefined) return this.#field(field, true)
    return `map<${typeText(key)}, ${typeText(value)}> ${field.name} = ${field.number}${bracketed(fieldOptions(field))};`
  }

  #field(field: FieldDescriptor, isLabelled: boolean): string {
    const label = isLabelled ? this.#label(field) : ''
    return `${label}${typeText(field)} ${field.name} = ${field.number}${bracketed(fieldOptions(field))};`
  }

  #label({ label, proto3Optional }: FieldDescriptor): string {
    if (label === labels.repeated) return 'repeated '
    if (label === labels.required) return 'required '
    return proto3Optional === true || this.#syntax === '' || this.#syntax === 'proto2' ? 'optional ' : ''
  }
}

function typeText({ type, typeName }: FieldDescriptor): string {
  const scalar = type === undefined ? undefined : fieldTypes[type]
  if (scalar !== undefined) return scalar
  if ((type === messageType || type === enumType) && typeName !== undefined) return typeName
  throw new UnprintableError(`type ${type}`) // a group, which has been out of use for long
}

function fieldOptions(field: FieldDescriptor): string[] {
  const options = optionTexts(field.options)
  if (field.defaultValue !== undefined) options.push(`default = ${defaultText(field, field.defaultValue)}`)
  if (field.jsonName !== undefined && field.jsonName !== jsonNameOf(field.name)) {
    options.push(`json_name = ${quoted(field.jsonName)}`)
  }
  return options
}

/** What descriptor.proto says of it: text as it is, bytes escaped as in C, all else as in a file. */
function defaultText({ type }: FieldDescriptor, value: string): string {
  if (type === 9) return quoted(value)
  return type === 12 ? `"${value}"` : value
}

function enumLines(type: EnumDescriptor): string[] {
  const values = (type.value ?? []).map(
    ({ name, number, options }) => `${name} = ${number}${bracketed(optionTexts(options))};`,
  )
  return block(`enum ${type.name}`, [...optionLines(type.options), ...reservedLines(type, 0, 2 ** 31 - 1), ...values])
}

function serviceLines({ name, method = [] }: ServiceDescriptor): string[] {
  const stream = (streams: boolean | undefined) => (streams === true ? 'stream ' : '')
  const methods = method.map(
    (one) =>
      `rpc ${one.name}(${stream(one.clientStreaming)}${one.inputType}) returns (${stream(one.serverStreaming)}${one.outputType});`,
  )
  return block(`service ${name}`, methods)
}

/** @param toEnd what to add to an end for it to be the last number */
function reservedLines(
  {
    reservedRange = [],
    reservedName = [],
  }: { readonly reservedRange?: readonly NumberRange[]; readonly reservedName?: readonly string[] },
  toEnd: number,
  numberMax: number,
): string[] {
  const ranges = reservedRange.map(({ start, end }) => rangeText(start, end + toEnd, numberMax))
  return [
    ...(ranges.length === 0 ? [] : [`reserved ${ranges.join(', ')};`]),
    ...(reservedName.length === 0 ? [] : [`reserved ${reservedName.map(quoted).join(', ')};`]),
  ]
}

function rangeText(first: number, last: number, numberMax: number): string {
  if (first === last) return String(first)
  return `${first} to ${last >= numberMax ? 'max' : last}`
}

function optionLines(options: Options | undefined, without: readonly string[] = []): string[] {
  return optionTexts(options, without).map((text) => `option ${text};`)
}

/** Enum values stand for themselves by name where they are known by it, and repeated options and messages but features are left out. */
function optionTexts(options: Options | undefined, without: readonly string[] = []): string[] {
  return Object.entries(options ?? {}).flatMap(([name, value]): string[] => {
    if (without.includes(name)) return []
    if (typeof value === 'boolean') return [`${snake(name)} = ${value}`]
    if (typeof value === 'string') return [`${snake(name)} = ${quoted(value)}`]
    if (typeof value !== 'number') return []
    const known = enumOptions[name]?.[value]
    return known === undefined ? [] : [`${snake(name)} = ${known}`]
  })
}

const enumOptions: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  optimizeFor: { 1: 'SPEED', 2: 'CODE_SIZE', 3: 'LITE_RUNTIME' },
  ctype: { 0: 'STRING', 1: 'CORD', 2: 'STRING_PIECE' },
  jstype: { 0: 'JS_NORMAL', 1: 'JS_STRING', 2: 'JS_NUMBER' },
}

function isMapEntry({ options }: MessageDescriptor): boolean {
  return options?.['mapEntry'] === true
}

function block(head: string, lines: readonly string[]): string[] {
  return [`${head} {`, ...lines.map((line) => `  ${line}`), '}']
}

function bracketed(options: readonly string[]): string {
  return options.length === 0 ? '' : ` [${options.join(', ')}]`
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function lastName(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf('.') + 1)
}

/** As protoc derives it. */
export function jsonNameOf(name: string): string {
  return name.replaceAll(/_+(.?)/g, (_, letter: string) => letter.toUpperCase())
}

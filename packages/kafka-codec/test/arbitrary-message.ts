import fc from 'fast-check'
import { defaultStruct, type Field, type Fields } from '../src/field.ts'
import { includesVersion } from '../src/version-range.ts'

/** Any value that the fields can carry at a version; what the version lacks is at its default. */
export function arbitraryStruct(
  fields: Fields,
  version: number,
  flexible: boolean,
): fc.Arbitrary<Record<string, unknown>> {
  const byDefault = defaultStruct(fields)
  const present = Object.entries(fields).filter(([, field]) => includesVersion(field.versions, version))
  const values = fc.record(
    Object.fromEntries(present.map(([name, field]) => [name, arbitraryValue(field, version, flexible)])),
  )
  const tags = flexible ? fc.option(arbitraryTags, { nil: undefined, freq: 5 }) : fc.constant(undefined)
  return fc
    .tuple(values, tags)
    .map(([value, unknownTags]) => ({ ...byDefault, ...value, ...(unknownTags === undefined ? {} : { unknownTags }) }))
}

/** Beyond every known tag, ascending, at least one: decoding leaves the property out if there is none. */
const arbitraryTags = fc
  .uniqueArray(fc.record({ tag: fc.integer({ min: 100, max: 0xffff_ffff }), bytes: fc.uint8Array({ maxLength: 6 }) }), {
    selector: ({ tag }) => tag,
    minLength: 1,
    maxLength: 2,
  })
  .map((tags) => tags.map(({ tag, bytes }) => ({ tag, bytes })).sort((a, b) => a.tag - b.tag))

function arbitraryValue(field: Field, version: number, flexible: boolean): fc.Arbitrary<unknown> {
  const nullable = field.nullable !== undefined && includesVersion(field.nullable, version)
  const value = arbitraryNonNull(field, version, flexible)
  return nullable ? fc.option(value, { freq: 3 }) : value
}

function arbitraryNonNull(field: Field, version: number, flexible: boolean): fc.Arbitrary<unknown> {
  switch (field.kind) {
    case 'array':
      return fc.array(arbitraryValue(field.element!, version, flexible), { maxLength: 3 })
    case 'struct':
      return arbitraryStruct(field.fields!, version, flexible)
    default:
      return scalars[field.kind]
  }
}

const scalars = {
  boolean: fc.boolean(),
  int8: fc.integer({ min: -0x80, max: 0x7f }),
  int16: fc.integer({ min: -0x8000, max: 0x7fff }),
  uint16: fc.integer({ min: 0, max: 0xffff }),
  int32: fc.integer({ min: -0x8000_0000, max: 0x7fff_ffff }),
  uint32: fc.integer({ min: 0, max: 0xffff_ffff }),
  int64: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  float64: fc.double(),
  uuid: fc.uuid(),
  string: fc.string({ unit: 'grapheme', maxLength: 12 }),
  bytes: fc.uint8Array({ maxLength: 200 }),
  records: fc.uint8Array({ maxLength: 200 }),
} satisfies Record<string, fc.Arbitrary<unknown>>

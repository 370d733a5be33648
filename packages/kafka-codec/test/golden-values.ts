import { crc32 } from 'node:zlib'
import type { Field, Fields } from '../src/field.ts'
import { includesVersion } from '../src/version-range.ts'

/**
 * The values that e2e/golden/GoldenBytes.java gave to every field, rebuilt from our declarations by the same rule: a
 * value comes from the CRC-32 of the field's path. The variants are explained there.
 */
export type Variant = 'full' | 'empty' | 'null' | 'nested' | 'unknown'

export interface GoldenMessage {
  readonly version: number
  readonly variant: Variant
}

export const goldenUnknownTags = [
  { tag: 900, bytes: Uint8Array.of(1, 2, 3) },
  { tag: 1000, bytes: new Uint8Array(0) },
]

export function goldenStruct(fields: Fields, message: GoldenMessage, path = '', depth = 0): Record<string, unknown> {
  const struct: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(fields)) {
    struct[name] = includesVersion(field.versions, message.version)
      ? goldenValue(field, message, path === '' ? name : `${path}.${name}`, depth)
      : field.makeDefault()
  }
  if (message.variant === 'unknown') struct['unknownTags'] = goldenUnknownTags
  return struct
}

function goldenValue(field: Field, message: GoldenMessage, path: string, depth: number): unknown {
  const { version, variant } = message
  const nullable = field.nullable !== undefined && includesVersion(field.nullable, version)
  const hasInside = field.kind === 'array' || field.kind === 'struct'
  if (nullable && (variant === 'null' || (variant === 'nested' && !hasInside))) return null
  if (field.kind === 'struct') return goldenStruct(field.fields!, message, path, depth + 1)
  if (field.kind !== 'array') return goldenScalar(field, variant, path)
  const element = field.element!
  return Array.from({ length: elementCount(variant, depth) }, (_, index) =>
    goldenValue(element, message, `${path}[${index}]`, depth),
  )
}

function elementCount(variant: Variant, depth: number): number {
  if (variant === 'empty') return 0
  return variant === 'full' && depth === 0 ? 2 : 1
}

function goldenScalar(field: Field, variant: Variant, path: string): unknown {
  const zero = variant === 'empty' || variant === 'unknown'
  const crc = zero ? 0 : crc32(path)
  switch (field.kind) {
    case 'boolean':
      return (crc & 1) === 1
    case 'int8':
      return (crc << 24) >> 24
    case 'int16':
      return (crc << 16) >> 16
    case 'uint16':
      return crc & 0xffff
    case 'int32':
      return crc | 0
    case 'uint32':
      return crc
    case 'int64':
      return goldenInt64(crc)
    case 'float64':
      return crc / 4
    case 'uuid': {
      const half = BigInt.asUintN(64, goldenInt64(crc)).toString(16).padStart(16, '0')
      return (half + half).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
    }
    case 'string':
      return zero ? '' : `${crc.toString(36)}é`
    case 'bytes':
    case 'records':
      return zero ? new Uint8Array(0) : Uint8Array.of(crc >>> 24, crc >>> 16, crc >>> 8, crc)
    default:
      throw new TypeError(`no rule for ${field.kind}`)
  }
}

function goldenInt64(crc: number): bigint {
  return BigInt.asIntN(64, (BigInt(crc) << 32n) ^ BigInt(crc))
}

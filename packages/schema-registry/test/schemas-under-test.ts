import { onTestFinished } from 'vitest'
import type { SchemaKindRules, ValueProblem } from '../src/kinds/schema-kind.ts'
import type { SchemaBinding, SchemaKind, SchemaProblem, SchemaSource } from '../src/schema.ts'
import { type SchemaWorkers, type SchemaWorkersSettings, startSchemaWorkers } from '../src/workers/schema-workers.ts'

export function workersUnderTest(settings: Partial<SchemaWorkersSettings> = {}): SchemaWorkers {
  const workers = startSchemaWorkers({
    workers: 2,
    deadlineMs: 500,
    heapMb: 128,
    workerUrl: new URL('../src/worker.ts', import.meta.url),
    ...settings,
  })
  onTestFinished(() => workers.close())
  return workers
}

export function sourceOf(
  kind: SchemaKind,
  text: unknown,
  references: Readonly<Record<string, unknown>> = {},
): SchemaSource {
  const textOf = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  return {
    kind,
    text: textOf(text),
    references: Object.entries(references).map(([importName, value]) => ({ importName, text: textOf(value) })),
  }
}

export const plain: SchemaBinding = { name: 'orders', version: 1, encoding: 'plain', tombstonesPass: false }

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** The check of a schema that compiles. */
export function checkOf(
  kind: SchemaKindRules,
  ...source: Parameters<typeof sourceOf>
): (bytes: Uint8Array, messageIndexes?: readonly number[]) => ValueProblem | null {
  const compilation = kind.compile(sourceOf(...source))
  if ('problems' in compilation) throw new Error(JSON.stringify(compilation.problems))
  return (bytes, messageIndexes = [0]) => compilation.compiled.validate(bytes, messageIndexes)
}

export function problemsOf(kind: SchemaKindRules, ...source: Parameters<typeof sourceOf>): readonly SchemaProblem[] {
  const compilation = kind.compile(sourceOf(...source))
  return 'problems' in compilation ? compilation.problems : []
}

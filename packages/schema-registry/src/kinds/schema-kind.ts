import type { SchemaProblem, SchemaSource } from '../schema.ts'

/** What is wrong with a value; `path` is a JSON Pointer into it, '' for all of it. */
export interface ValueProblem {
  readonly path: string
  readonly reason: string
}

/** A schema that values can be held to. Belongs to one thread; nothing in it is ever changed by a value. */
export interface CompiledSchema {
  /** The same text for all schemas that say the same but for white space, order of keys, comments and the like. */
  readonly canonical: string
  /**
   * The first problem of a value, which is the whole of `bytes`; null if it has none. `messageIndexes` say which type of a
   * Protobuf file the value is of, `[0]` for the first; the other kinds have one type and do not look at them.
   *
   * Values are hostile. Whatever they are ends in an answer, in time that the caller bounds by ending the thread.
   */
  validate(bytes: Uint8Array, messageIndexes: readonly number[]): ValueProblem | null
}

export type Compilation =
  | { readonly compiled: CompiledSchema }
  /** At least one. */
  | { readonly problems: readonly SchemaProblem[] }

/** One kind of schema: how to compile it, and when data of one version can be read by another. Knows nothing of records. */
export interface SchemaKindRules {
  compile(source: SchemaSource): Compilation
  /**
   * Why data written with `writer` cannot be read with `reader`; empty if it can. Both compile. What cannot be decided counts as
   * incompatible, with that reason.
   */
  incompatibilities(reader: SchemaSource, writer: SchemaSource): readonly SchemaProblem[]
}

/** Thrown inside a kind for what its schema does wrong, and caught where the kind is entered. */
export class SchemaRefusal extends Error {
  override readonly name = 'SchemaRefusal'
  readonly problem: SchemaProblem

  constructor(path: string, reason: string) {
    super(`${path}: ${reason}`)
    this.problem = { path, reason }
  }
}

/**
 * Runs `work` on a schema and gives what is wrong with it instead, also when it nests deeper than the stack: a recursion over a
 * schema is bounded by nothing else, and nothing else but a recursion without end would overflow it.
 */
export function refusals<T>(work: () => T): { readonly done: T } | { readonly problems: readonly SchemaProblem[] } {
  try {
    return { done: work() }
  } catch (error) {
    if (error instanceof SchemaRefusal) return { problems: [error.problem] }
    if (isStackOverflow(error)) return { problems: [{ path: '', reason: 'the schema nests too deeply' }] }
    throw error
  }
}

export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded'
}

/** One more step of a JSON Pointer (RFC 6901). */
export function pointerStep(key: string | number): string {
  return typeof key === 'number' ? `/${key}` : `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

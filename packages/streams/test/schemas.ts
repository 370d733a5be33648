import type { Metadata } from '@pico/metadata'
import type { Judgement, JudgeRecords, RecordProblem, SchemaNames, TopicSchema } from '../src/index.ts'

/** Schemas as the database has them; and `vanishing:1`, which is deleted as soon as it was looked up. */
export function schemaNames({ schemas }: Metadata): SchemaNames {
  return {
    async pin(value) {
      if (value === 'vanishing') return 'vanishing:1'
      const [name = '', version] = value.split(':')
      const found = await (version === undefined ? schemas.newest(name) : schemas.get(name, Number(version)))
      return found === null ? null : `${found.name}:${found.version}`
    },
  }
}

/** Registers one more version of it. */
export async function registerVersion({ schemas }: Metadata, name: string): Promise<void> {
  const newest = (await schemas.newest(name))?.version ?? null
  const text = `${name} ${newest}`
  const { outcome } = await schemas.put({ name, kind: 'test', text, references: [], fingerprint: text }, newest, 0)
  if (outcome !== 'added') throw new Error(outcome)
}

/** A judge whose answers come when the test lets them. */
export class HeldJudge {
  readonly asked: TopicSchema[] = []
  readonly #answers: { resolve(problems: readonly RecordProblem[]): void; reject(error: unknown): void }[] = []

  readonly judge: JudgeRecords = (schema) => {
    this.asked.push(schema)
    return new Promise((resolve, reject) => this.#answers.push({ resolve, reject }))
  }

  /** Of the `at`th question. */
  answer(at: number, ...problems: RecordProblem[]): void {
    this.#answers[at]?.resolve(problems)
  }

  fail(at: number, error: unknown): void {
    this.#answers[at]?.reject(error)
  }
}

export const good = (schema: TopicSchema): Judgement => ({ schema, problems: [] })
export const problem = (index: number, path = '/a', reason = 'must be a number'): RecordProblem => {
  return { index, path, reason }
}

import type { Judgement, JudgeRecords, RecordProblem, SchemaNames, TopicSchema } from '../src/index.ts'

/** Schemas by name, each with so many versions. */
export function schemaNames(versions: Readonly<Record<string, number>>): SchemaNames {
  return {
    async pin(value) {
      const [name = '', version] = value.split(':')
      const newest = versions[name]
      if (newest === undefined || Number(version ?? newest) > newest) return null
      return `${name}:${version ?? newest}`
    },
  }
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

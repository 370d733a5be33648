import type { Metadata } from '@pico/metadata'
import type { Judged, SchemaBinding, SchemaJudge } from '@pico/schema-registry'
import type { SchemaNames } from '@pico/streams'

/** Schemas by the plainest of rules: a value begins with the name of its schema. All are at version 1, and `missing` is not there. */
export class PrefixJudge implements SchemaJudge, SchemaNames {
  /** Nobody can say what is good for the moment. */
  isAway = false
  asked = 0
  readonly #metadata: Metadata
  #held: Promise<void> | null = null
  #release: () => void = () => undefined

  constructor(metadata: Metadata) {
    this.#metadata = metadata
  }

  async pin(value: string): Promise<string | null> {
    const [name = ''] = value.split(':')
    if (name === 'missing') return null
    await this.#metadata.schemas.put({ name, kind: 'prefix', text: name, references: [], fingerprint: name }, null, 0)
    return `${name}:1`
  }

  /** No answer until the returned function is called. */
  hold(): () => void {
    this.#held = new Promise((resolve) => {
      this.#release = resolve
    })
    return () => {
      this.#held = null
      this.#release()
    }
  }

  judgeBatch(): Promise<Judged> {
    throw new Error('nobody produces batches over HTTP')
  }

  judgeValues(binding: SchemaBinding, values: readonly (Uint8Array | null)[]): Promise<Judged> {
    return this.#judge(() => this.#problems(binding, values))
  }

  async #judge(problems: () => Judged): Promise<Judged> {
    this.asked += 1
    await this.#held
    if (this.isAway) throw Object.assign(new Error('no database'), { code: 'PICO_SCHEMA_UNAVAILABLE' })
    return problems()
  }

  #problems({ name, tombstonesPass }: SchemaBinding, values: readonly (Uint8Array | null)[]): Judged {
    return values.flatMap((value, index) => {
      if (value === null) return tombstonesPass ? [] : [{ index, path: '', reason: 'has no value' }]
      const begins = Buffer.from(value).toString('latin1').startsWith(name)
      return begins ? [] : [{ index, path: '/0', reason: `does not begin with ${name}` }]
    })
  }
}

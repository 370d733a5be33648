import { parseByteSize } from '../byte-size.ts'
import { UsageError } from '../exit-errors.ts'
import { variableOf } from '../serve-flags.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** A flag of a client command. The command line comes first, then its variable: `--batch` is `PICO_BATCH`. */
export interface ClientFlag {
  readonly describe: string
  readonly alias?: string
  /** A switch takes no value. */
  readonly switch?: true
  readonly choices?: readonly string[]
  /** Shown in the help; what reads the flag applies it. */
  readonly default?: string
}

export type ClientFlags = Readonly<Record<string, ClientFlag>>

/** For yargs, which checks names and choices only: values are read by `GivenFlags`, so that variables are judged as flags are. */
export function optionOf(name: string, flag: ClientFlag) {
  const shown = flag.default === undefined ? '' : ` (default: ${flag.default})`
  const describe = `${flag.describe}${shown} [${variableOf(name)}]`
  const alias = flag.alias === undefined ? {} : { alias: flag.alias }
  if (flag.switch) return { describe, ...alias, type: 'boolean' } as const
  return { describe, ...alias, type: 'string', nargs: 1 } as const
}

/** What a command was given, each value checked when it is asked for. Every problem is a UsageError that names the flag. */
export class GivenFlags {
  readonly #given: Readonly<Record<string, unknown>>
  readonly #environment: Environment
  readonly #flags: ClientFlags

  constructor(given: Readonly<Record<string, unknown>>, environment: Environment, flags: ClientFlags) {
    this.#given = given
    this.#environment = environment
    this.#flags = flags
  }

  text(name: string): string | undefined {
    const given = this.#last(name)
    const value = given === undefined ? this.#environment[variableOf(name)] : String(given)
    const choices = this.#flags[name]?.choices
    if (value !== undefined && choices !== undefined && !choices.includes(value))
      throw new UsageError(`--${name} ${value}: one of ${choices.join(', ')} is needed`)
    return value
  }

  isOn(name: string): boolean {
    const given = this.#last(name)
    if (typeof given === 'boolean') return given
    const value = this.#environment[variableOf(name)]
    if (value === undefined || value === 'false' || value === '0' || value === '') return false
    if (value === 'true' || value === '1') return true
    throw new UsageError(`${variableOf(name)} ${value}: one of true, false is needed`)
  }

  /** Of a flag that was given more than once. */
  #last(name: string): unknown {
    const given = this.#given[name]
    return Array.isArray(given) ? given.at(-1) : given
  }

  wholeNumber(name: string, least = 0): number | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : wholeNumber(text, `--${name}`, least)
  }

  sizeBytes(name: string): number | undefined {
    const text = this.text(name)
    return text === undefined ? undefined : parseByteSize(text, `--${name}`)
  }
}

/** @throws UsageError naming `what` */
export function wholeNumber(text: string, what: string, least = 0): number {
  const value = Number(text)
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(value) || value < least)
    throw new UsageError(`${what} ${text} is not a whole number of at least ${least}`)
  return value
}

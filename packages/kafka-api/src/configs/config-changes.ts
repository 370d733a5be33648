import { listItems, type TopicConfigChange, topicSettings } from '@pico/streams'

/** What IncrementalAlterConfigs does to a key (Kafka's AlterConfigOp.OpType). */
export const configOperation = { set: 0, delete: 1, append: 2, subtract: 3 } as const

export interface ConfigOperation {
  readonly name: string
  readonly operation: number
  /** Null only where a key is deleted. */
  readonly value: string | null
}

/** Longest value, in UTF-16 units, that Kafka stores (Short.MAX_VALUE). */
const valueLengthMax = 32_767

/** Every key is what it is said to be, and those not mentioned have their defaults again (AlterConfigs). */
export function replaceAll(
  configs: readonly { readonly name: string; readonly value: string | null }[],
): TopicConfigChange {
  return changeOf(
    () => ({}),
    configs.map(({ name, value }) => ({ name, operation: configOperation.set, value })),
  )
}

/** Only the keys mentioned change (IncrementalAlterConfigs). A list that was not set grows from, or shrinks below, its default. */
export function changeSome(
  operations: readonly ConfigOperation[],
  operatorDefaults: Readonly<Record<string, string>>,
): TopicConfigChange {
  return changeOf((overrides) => ({ ...overrides }), operations, operatorDefaults)
}

function changeOf(
  begin: (overrides: Readonly<Record<string, string>>) => Record<string, string>,
  operations: readonly ConfigOperation[],
  operatorDefaults: Readonly<Record<string, string>> = {},
): TopicConfigChange {
  return (overrides) => {
    const changed = begin(overrides)
    for (const { name, operation, value } of operations) {
      const problem = problemOf(name, operation)
      if (problem !== null) return { invalid: problem }
      if (operation === configOperation.delete) delete changed[name]
      else if (operation === configOperation.set) changed[name] = value ?? ''
      else {
        const inForce = changed[name] ?? operatorDefaults[name] ?? topicSettings.get(name)?.defaultValue ?? ''
        changed[name] = joined(listItems(inForce), operation, listItems(value ?? ''))
      }
      if ((changed[name]?.length ?? 0) > valueLengthMax) {
        return { invalid: `the value of ${name} would be longer than ${valueLengthMax} characters` }
      }
    }
    return { overrides: changed }
  }
}

function joined(current: readonly string[], operation: number, given: readonly string[]): string {
  if (operation === configOperation.append) return [...new Set([...current, ...given])].join(',')
  return current.filter((item) => !given.includes(item)).join(',')
}

function problemOf(name: string, operation: number): string | null {
  const isOfList = operation === configOperation.append || operation === configOperation.subtract
  const setting = topicSettings.get(name)
  if (!isOfList || setting === undefined || setting.type === 'list') return null
  const verb = operation === configOperation.append ? 'append to' : 'subtract from'
  return `Can't ${verb} key ${name} because its type is not LIST.`
}

import { nearestName } from './nearest-name.ts'

/** Our words for what yargs says about a command line: each one line, and flags with their dashes. */
export const problemTexts = {
  'Unknown argument: %s': { one: 'unknown argument: %s', other: 'unknown arguments: %s' },
  'Invalid values:': ' ', // the values follow
  'Argument: %s, Given: %s, Choices: %s': '--%s %s: one of %s is needed',
  'Not enough arguments following: %s': '--%s needs a value',
} as const

/**
 * The line for an operator. yargs strips the dashes from what it does not know, and tells words from flags no more: the command line
 * still can.
 */
export function commandLineProblem(message: string, argv: readonly string[], knownFlags: readonly string[]): string {
  const unknown = /^unknown arguments?: (.*)$/.exec(message)?.[1]
  if (unknown === undefined) return message.replaceAll(/\s*\n\s*/g, ' ').trim()
  return unknown
    .split(', ')
    .map((name) => unknownArgument(name, argv, knownFlags))
    .join('; ')
}

function unknownArgument(name: string, argv: readonly string[], knownFlags: readonly string[]): string {
  const flag = argv.map((word) => word.split('=', 1)[0] ?? '').find((word) => /^--?/.test(word) && bare(word) === name)
  if (flag === undefined) return `unknown command or argument ${name}`
  const meant = nearestName(name, knownFlags)
  return `unknown flag ${flag}${meant === undefined ? '' : `; did you mean --${meant}?`}`
}

function bare(flag: string): string {
  return flag.replace(/^--?/, '')
}

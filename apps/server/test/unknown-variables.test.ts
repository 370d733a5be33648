import { expect, it, vi } from 'vitest'
import { allClientFlagNames } from '../src/commands/client-commands.ts'
import { main } from '../src/main.ts'
import { serveFlags, variableOf } from '../src/serve-flags.ts'
import { unknownVariables } from '../src/unknown-variables.ts'

const known = [...Object.keys(serveFlags), 'endpoint']

it('a mistyped variable is told of, with the one that was meant', () => {
  expect(unknownVariables({ PICO_NODE_IDS: '2', PICO_KAFKA_LISTN: 'x' }, known)).toEqual([
    'the variable PICO_KAFKA_LISTN is unknown and has no effect; did you mean PICO_KAFKA_LISTEN?',
    'the variable PICO_NODE_IDS is unknown and has no effect; did you mean PICO_NODE_ID?',
  ])
})

it('a variable that is like no other is told of alone', () => {
  expect(unknownVariables({ PICO_COLOUR_SCHEME: 'red' }, known)).toEqual([
    'the variable PICO_COLOUR_SCHEME is unknown and has no effect',
  ])
})

it('what is known, what belongs to others, and what Kubernetes sets for a service called pico is not', () => {
  const environment = {
    PICO_NODE_ID: '2',
    PICO_ENDPOINT: 'http://127.0.0.1:4437',
    PICO_FAULT: 'kill-in-frame',
    PICO_SERVICE_HOST: '10.0.0.1',
    PICO_SERVICE_PORT_KAFKA: '9092',
    PICO_PORT: 'tcp://10.0.0.1:9092',
    PICO_KAFKA_PORT_9092_TCP_ADDR: '10.0.0.1',
    PICOLO: 'x',
    PATH: '/bin',
  }
  expect(unknownVariables(environment, known)).toEqual([])
})

it('every command tells of them, and of none that is a flag of any command', async () => {
  const lines: string[] = []
  vi.spyOn(console, 'error').mockImplementation((line: string) => void lines.push(line))
  const flags = [...Object.keys(serveFlags), ...allClientFlagNames, 'admin-endpoint']
  const environment = Object.fromEntries(flags.map((flag) => [variableOf(flag), 'x']))
  expect(await main(['sing'], { ...environment, PICO_ENDPOIN: 'x' })).toBe(2)
  expect(lines).toEqual([
    'pico: the variable PICO_ENDPOIN is unknown and has no effect; did you mean PICO_ENDPOINT?',
    'pico: unknown command or argument sing',
  ])
  vi.restoreAllMocks()
})

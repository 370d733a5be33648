import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../child-process.ts'
import { pythonTools } from '../toolchain.ts'
import type { Serde } from './serde.ts'

const program = join(dirname(fileURLToPath(import.meta.url)), '../../python/schema_registry.py')

/** confluent-kafka for Python, with its extras avro, json, protobuf and schemaregistry. */
export const pythonSerde: Serde = {
  name: 'confluent-kafka (Python)',
  tool: pythonTools,
  async serialize(registryUrl, { kind, path }, topic, values) {
    const lines = await answers(
      ['serialize', registryUrl, kind, topic, path],
      values.map((value) => JSON.stringify(value)),
    )
    return lines.map((line) => Buffer.from(line, 'base64'))
  },
  async deserialize(registryUrl, { kind, path }, topic, values) {
    const given = values.map((value) => value.toString('base64'))
    const lines = await answers(['deserialize', registryUrl, kind, topic, path], given)
    return lines.map((line) => JSON.parse(line) as object)
  },
}

async function answers(words: readonly string[], lines: readonly string[]): Promise<string[]> {
  const { python } = await pythonTools()
  const { stdout } = await run(python, [program, ...words], { input: `${lines.join('\n')}\n` })
  return stdout.toString().trim().split('\n')
}

import { spawnSync } from 'node:child_process'
import { openSqliteMetadata } from '../../src/sqlite.ts'

/**
 * Reserves numbers and creates streams on the database `path` until its file may not grow any more (the parent set a soft limit),
 * then lifts the limit and goes on. Says what came of it as JSON.
 */
const [path = ''] = process.argv.slice(2)

const metadata = await openSqliteMetadata({ path })
let created = 0
const createOne = async () => {
  const name = `t${created}`
  const config = { filler: 'x'.repeat(10_000) }
  await metadata.streams.create(
    [{ name: `/${name}`, topic: name, partition: 0, topicId: name, contentType: 'text/plain', config }],
    1,
  )
  created += 1
}
const failures: unknown[] = []
while (failures.length === 0) await createOne().catch((error) => failures.push(error))
const [failure] = failures
const createdWhenFull = created
const foundWhenFull = await metadata.streams.count()
await createOne().catch((error) => failures.push(error))
spawnSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited'])
await createOne()
await metadata.close()

const again = await openSqliteMetadata({ path })
const found = await again.streams.count()
await again.close()
const { code, message } = failure as { code?: string; message?: string }
console.log(JSON.stringify({ code, message, failed: failures.length, createdWhenFull, foundWhenFull, created, found }))

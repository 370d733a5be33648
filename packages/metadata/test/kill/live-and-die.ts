import { writeSync } from 'node:fs'
import { openSqliteMetadata } from '../../src/sqlite.ts'
import { story } from './story.ts'

/** Lives the story on the database `path`, and dies by SIGKILL right before statement number `statement`. */
const [path = '', statement = ''] = process.argv.slice(2)

let statements = 0
const metadata = await openSqliteMetadata({
  path,
  // Every run of the story is to leave the same rows.
  nowMs: () => 0,
  onStatement() {
    statements += 1
    if (statements === Number(statement)) process.kill(process.pid, 'SIGKILL')
  },
})
for (const [index, step] of story.entries()) {
  await step(metadata)
  writeSync(1, `done ${index + 1}\n`)
}
await metadata.close()
writeSync(1, `statements ${statements}\n`)

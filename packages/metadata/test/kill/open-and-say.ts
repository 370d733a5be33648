import { openSqliteMetadata } from '../../src/sqlite.ts'

/** Opens the database `path` and says what came of it; with `hold`, keeps it open until killed. */
const [path = '', hold] = process.argv.slice(2)

try {
  const metadata = await openSqliteMetadata({ path })
  console.log('opened')
  if (hold === 'hold') setInterval(() => {}, 1000)
  else await metadata.close()
} catch (error) {
  console.log(error instanceof Error && 'code' in error ? `${error.code}: ${error.message}` : error)
}

import { DurableStreamTestServer } from '@durable-streams/server'

/**
 * A program: npm's `@durable-streams/server` on files, as a process of its own.
 * Arguments: port, folder. Serves until SIGTERM.
 */
const [port, dataDir] = process.argv.slice(2)
if (port === undefined || dataDir === undefined) throw new Error('usage: durable-streams-server.ts <port> <folder>')
console.info = () => {} // a line for every append that it finds slow would make it slower still
const server = new DurableStreamTestServer({ host: '127.0.0.1', port: Number(port), dataDir })
process.once('SIGTERM', () => {
  server.stop().then(
    () => process.exit(0),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
})
await server.start()

import { createServer } from 'node:http'

/**
 * A program: answers every request with an empty JSON object once its body is there, and keeps nothing. Argument: port. Serves until
 * SIGTERM. What any server written in Node can reach on this machine, so that figures of other machines can be compared.
 */
const [port] = process.argv.slice(2)
if (port === undefined) throw new Error('usage: node-http-server.ts <port>')
const answer = '{}'
const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer)
  })
})
process.once('SIGTERM', () => process.exit(0))
server.listen(Number(port), '127.0.0.1')

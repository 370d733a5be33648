import { connect } from 'node:net'

const joinGroup = 11

/** True when the broker lists JoinGroup among what it serves. Asked by hand, in ApiVersions v0, so that no codec is needed. */
export async function servesGroups(port: number): Promise<boolean> {
  return (await servedApis(port)).has(joinGroup)
}

/** API key to the first and last version served. */
export function servedApis(port: number): Promise<Map<number, readonly [first: number, last: number]>> {
  const request = Buffer.alloc(14)
  request.writeInt32BE(10, 0)
  request.writeInt16BE(18, 4) // ApiVersions
  request.writeInt16BE(0, 6)
  request.writeInt32BE(1, 8) // correlation id
  request.writeInt16BE(-1, 12) // no client id
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request))
    let answer = Buffer.alloc(0)
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer to ApiVersions')))
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the connection was closed before ApiVersions was answered')))
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk])
      if (answer.length < 4 || answer.length < 4 + answer.readInt32BE(0)) return
      const count = answer.readInt32BE(10)
      const versions = (at: number) => [answer.readInt16BE(at + 2), answer.readInt16BE(at + 4)] as const
      const places = Array.from({ length: count }, (_, index) => 14 + 6 * index)
      resolve(new Map(places.map((at) => [answer.readInt16BE(at), versions(at)])))
      socket.destroy()
    })
  })
}

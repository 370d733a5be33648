import { connect } from 'node:net'

/** What came back over one connection, as it came. */
export interface RawAnswer {
  readonly text: string
  /** Of every answer, in order. */
  readonly statuses: readonly number[]
  /** Whether the server ended the connection; else it was silent for `quietMs`. */
  readonly isClosed: boolean
}

/** Sends bytes, whatever they are, over a connection of their own. Text is Latin-1. */
export function sendRaw(port: number, bytes: string | Buffer, quietMs = 1500): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const done = (isClosed: boolean) => {
      socket.destroy()
      const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => Number(match[1]))
      resolve({ text, statuses, isClosed })
    }
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
    })
    // Reset by the server, which may well have answered before.
    socket.on('error', () => done(true)).on('close', () => done(true))
    socket.setTimeout(quietMs, () => done(false))
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  })
}

/** A request without its body. */
export function head(line: string, ...headers: string[]): string {
  return `${[line, 'Host: x', ...headers].join('\r\n')}\r\n\r\n`
}

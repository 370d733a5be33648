import assert from 'node:assert'
import { HttpConnection } from '../../http-connection.ts'

const connections = 32

export async function createStream(port: number, path: string, contentType: string): Promise<void> {
  const headers = { 'Content-Type': contentType }
  const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'PUT', headers })
  assert(status === 201, `creating ${path}: ${status}`)
}

export async function deleteStream(port: number, path: string): Promise<void> {
  const { status } = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'DELETE' })
  assert(status === 204, `deleting ${path}: ${status}`)
}

/** Sends a request so many times, over several connections. */
export async function appendRepeatedly(port: number, request: Uint8Array, times: number): Promise<void> {
  let left = times
  const one = async () => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const next = () => {
      if (left-- > 0) connection.send(request)
      else resolve()
    }
    const connection = await HttpConnection.open(port, {
      onEnd(head) {
        if (head.status < 300) next()
        else reject(new Error(`an append was answered:\n${head}`))
      },
      onLost: reject,
    })
    next()
    await promise.finally(() => connection.destroy())
  }
  await Promise.all(Array.from({ length: Math.min(connections, times) }, one))
}

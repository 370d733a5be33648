import { Socket, type SocketConstructorOpts } from 'node:net'

/** Node's handle of a connection, as far as we look: not part of its public interface. */
interface ReadingHandle {
  useUserBuffer(buffer: Uint8Array): void
}

/**
 * The same connection as a socket that reads into `buffer`, which all sockets of a listener share: reads happen one at a time, and
 * `received` has taken in what it wants when it returns. Node offers that (`onread`) only for sockets that connect, not for those that
 * are accepted, so that we move the handle to a socket of our own. Without it every read allocates 64 KiB outside the heap, and under
 * load the collector runs for nothing else (a third of the CPU at full produce speed).
 *
 * Null where Node's handle is not what we know: then the caller reads by 'data' events. `accepted` must not have been read from.
 */
export function moveToReceiveBuffer(
  accepted: Socket,
  buffer: Buffer,
  received: (bytes: Buffer) => void,
): Socket | null {
  const owner = accepted as unknown as { _handle: unknown }
  const handle = owner._handle
  if (!isReadingHandle(handle)) return null
  owner._handle = null
  accepted.destroy() // only the wrapper: its handle lives on
  const onread = {
    buffer,
    callback(bytesRead: number) {
      received(buffer.subarray(0, bytesRead))
      return true
    },
  }
  const settings: Omit<SocketConstructorOpts, 'handle'> & { readonly handle: unknown } = { handle, onread }
  return new Socket(settings as SocketConstructorOpts)
}

function isReadingHandle(handle: unknown): handle is ReadingHandle {
  return (
    typeof handle === 'object' &&
    handle !== null &&
    'useUserBuffer' in handle &&
    typeof handle.useUserBuffer === 'function'
  )
}

/** ConsumerProtocolSubscription v0 of these topics. */
export function subscription(...topics: string[]): Uint8Array {
  const names = topics.map((topic) => Buffer.from(topic))
  const view = Buffer.alloc(2 + 4 + names.reduce((sum, name) => sum + 2 + name.length, 0) + 4)
  view.writeInt32BE(names.length, 2)
  let at = 6
  for (const name of names) {
    at = view.writeInt16BE(name.length, at)
    at += name.copy(view, at)
  }
  view.writeInt32BE(-1, at) // no user data
  return view
}

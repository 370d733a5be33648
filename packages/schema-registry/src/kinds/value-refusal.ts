/** What is wrong with a value, and where: the steps to it are put before it on the way out. */
export class ValueRefusal extends Error {
  override readonly name = 'ValueRefusal'
  readonly reason: string
  path = ''

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

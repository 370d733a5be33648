/** Why a request cannot be understood: the message of a 400. */
export class Problem {
  readonly message: string

  constructor(message: string) {
    this.message = message
  }
}

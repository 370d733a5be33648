import { Ordered } from '../handler.ts'

/**
 * The answer of a request that may wait for others: the next request of its connection starts when it is answered, not before. That is
 * how Kafka serves every request; it shows where one request parks and the next would see the group as it was before.
 */
export function answeredInTurn<Response>(response: Promise<Response>): Ordered<Response> {
  const answered = response.then(
    () => undefined,
    () => undefined, // The failure becomes the answer elsewhere: here it only ends the wait.
  )
  return new Ordered(answered, response)
}

/**
 * The answer of a request that has to look something up before it can be taken to its group: the next request of its connection starts
 * when it has been taken there. `submit` resolves then, to the answer in a box, since a promise of a promise would wait for both.
 */
export function submittedInTurn<Response>(
  submit: Promise<{ readonly answer: Response | Promise<Response> }>,
): Ordered<Response> {
  const submitted = submit.then(
    () => undefined,
    () => undefined, // As above.
  )
  return new Ordered(
    submitted,
    submit.then(({ answer }) => answer),
  )
}

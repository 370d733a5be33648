import { PicoError } from './errors.ts'

type Headers = Readonly<Record<string, string | string[] | undefined>>

export function textHeader(headers: Headers, name: string): string | null {
  const value = headers[name]
  return typeof value === 'string' ? value : null
}

/** Null where it is absent, or no whole number that a double can hold. */
export function numberHeader(headers: Headers, name: string): number | null {
  const text = textHeader(headers, name)
  if (text === null || !/^\d{1,16}$/.test(text)) return null
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : null
}

export function trueHeader(headers: Headers, name: string): boolean {
  return textHeader(headers, name)?.toLowerCase() === 'true'
}

/** @throws PicoError 'bad_response': what answers is no PicoMQ, or a proxy took the header out */
export function neededNumber(headers: Headers, name: string): number {
  const value = numberHeader(headers, name)
  if (value === null) throw new PicoError('bad_response', `the answer has no ${name}`)
  return value
}

/** @throws PicoError 'bad_response' */
export function neededText(headers: Headers, name: string): string {
  const value = textHeader(headers, name)
  if (value === null) throw new PicoError('bad_response', `the answer has no ${name}`)
  return value
}

import { isUtf8 } from 'node:buffer'

/** How much a JSON text may hold. */
export interface JsonLimits {
  /** Arrays and objects within each other. */
  readonly depthMax: number
  /** Values of any kind, members and elements of all levels counted. */
  readonly valuesMax: number
}

const noLimits: JsonLimits = { depthMax: Number.POSITIVE_INFINITY, valuesMax: Number.POSITIVE_INFINITY }

/**
 * Whether `bytes` are one JSON text (RFC 8259): UTF-8, without a byte order mark. As JSON.parse says, but nothing is made of it: 16 MiB of
 * brackets cost JSON.parse a gigabyte and seconds. 'too much' may also be said of what later turns out to be broken.
 */
export function scanJson(bytes: Uint8Array, limits: JsonLimits = noLimits): 'json' | 'no json' | 'too much' {
  return isUtf8(bytes) ? new JsonText(bytes, limits).judge() : 'no json'
}

export function isJson(bytes: Uint8Array): boolean {
  return scanJson(bytes) === 'json'
}

const [quote, backslash, comma, colon, minus, plus, point, zero] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d, 0x2b, 0x2e, 0x30]
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d]
const literals = ['true', 'false', 'null'].map((literal) => Buffer.from(literal))
const escapable = new Set(Buffer.from('"\\/bfnrt'))
const letterU = 0x75

class JsonText {
  readonly #bytes: Uint8Array
  readonly #limits: JsonLimits
  #at = 0
  /** How each array or object that is open will be closed, the outermost first. */
  #closers: Uint8Array = new Uint8Array(64)
  #depth = 0

  constructor(bytes: Uint8Array, limits: JsonLimits) {
    this.#bytes = bytes
    this.#limits = limits
  }

  judge(): 'json' | 'no json' | 'too much' {
    const { depthMax, valuesMax } = this.#limits
    for (let values = 1; ; values++) {
      if (values > valuesMax || this.#depth > depthMax) return 'too much'
      this.#skipSpace()
      const byte = this.#bytes[this.#at]
      if (byte === openBracket || byte === openBrace) {
        const closer = byte === openBracket ? closeBracket : closeBrace
        this.#at++
        this.#skipSpace()
        if (this.#bytes[this.#at] !== closer) {
          this.#open(closer)
          if (closer === closeBrace && !this.#name()) return 'no json'
          continue
        }
        this.#at++
      } else if (!this.#scalar(byte)) {
        return 'no json'
      }
      const more = this.#closeAfterValue()
      if (more !== 'value') return more === 'end' ? 'json' : 'no json'
    }
  }

  /** After a value: closes what ends there. Then a value is to come, or the text has ended, or it is broken. */
  #closeAfterValue(): 'value' | 'end' | 'broken' {
    for (;;) {
      this.#skipSpace()
      const byte = this.#bytes[this.#at]
      if (this.#depth === 0) return byte === undefined ? 'end' : 'broken'
      const closer = this.#closers[this.#depth - 1]
      this.#at++
      if (byte === closer) {
        this.#depth--
      } else {
        const isNext = byte === comma && (closer === closeBracket || this.#name())
        return isNext ? 'value' : 'broken'
      }
    }
  }

  #open(closer: number): void {
    if (this.#depth === this.#closers.length) {
      const larger = new Uint8Array(2 * this.#depth)
      larger.set(this.#closers)
      this.#closers = larger
    }
    this.#closers[this.#depth++] = closer
  }

  /** Of a member of an object, with its colon. */
  #name(): boolean {
    this.#skipSpace()
    if (this.#bytes[this.#at] !== quote || !this.#string()) return false
    this.#skipSpace()
    return this.#bytes[this.#at++] === colon
  }

  #scalar(byte: number | undefined): boolean {
    if (byte === quote) return this.#string()
    if (byte === minus || isDigit(byte)) return this.#number()
    const literal = literals.find((each) => each[0] === byte)
    if (literal === undefined) return false
    for (const expected of literal) if (this.#bytes[this.#at++] !== expected) return false
    return true
  }

  #string(): boolean {
    const bytes = this.#bytes
    let at = this.#at + 1
    for (; at < bytes.length; at++) {
      const byte = bytes[at] ?? 0
      if (byte === quote) {
        this.#at = at + 1
        return true
      }
      if (byte < 0x20) return false
      if (byte !== backslash) continue
      const escaped = bytes[++at] ?? 0
      if (escaped === letterU) {
        for (let digits = 4; digits > 0; digits--) if (!isHexDigit(bytes[++at])) return false
      } else if (!escapable.has(escaped)) {
        return false
      }
    }
    return false
  }

  #number(): boolean {
    const bytes = this.#bytes
    if (bytes[this.#at] === minus) this.#at++
    if (bytes[this.#at] === zero) this.#at++
    else if (!this.#digits()) return false
    if (bytes[this.#at] === point) {
      this.#at++
      if (!this.#digits()) return false
    }
    const exponent = bytes[this.#at]
    if (exponent !== 0x65 && exponent !== 0x45) return true
    const sign = bytes[++this.#at]
    if (sign === plus || sign === minus) this.#at++
    return this.#digits()
  }

  /** At least one. */
  #digits(): boolean {
    const from = this.#at
    while (isDigit(this.#bytes[this.#at])) this.#at++
    return this.#at > from
  }

  #skipSpace(): void {
    const bytes = this.#bytes
    for (;;) {
      const byte = bytes[this.#at]
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return
      this.#at++
    }
  }
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false
  return isDigit(byte) || (byte >= 0x61 && byte <= 0x66) || (byte >= 0x41 && byte <= 0x46)
}

import { UsageError } from './exit-errors.ts'

const units: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }

/** Bytes from `8388608`, `8MiB`, `8M` or `8mb`: units are powers of 1024. @throws UsageError naming `flag` */
export function parseByteSize(text: string, flag: string): number {
  const match = /^(\d+)\s*(?:([kmg])(?:i?b)?|b)?$/i.exec(text.trim())
  const unit = units[(match?.[2] ?? '').toLowerCase()]
  const bytes = Number(match?.[1]) * (unit ?? Number.NaN)
  if (!Number.isSafeInteger(bytes))
    throw new UsageError(`${flag}: ${JSON.stringify(text)} is not a size such as 8388608 or 8MiB`)
  return bytes
}

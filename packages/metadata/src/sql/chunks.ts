const maxIds = 1024
const maxRows = 256

/**
 * Splits a list of ids for `in (…)`. Every chunk has one of a few lengths (the last is padded by repeating its last id), so that few
 * distinct statements exist and all stay prepared; 1,024 keeps clear of every database's limit on parameters.
 */
export function* idChunks<T>(ids: readonly T[]): Generator<T[]> {
  for (let at = 0; at < ids.length; at += maxIds) {
    const chunk = ids.slice(at, at + maxIds)
    const last = chunk.at(-1)
    let length = 1
    while (length < chunk.length) length *= 4
    while (last !== undefined && chunk.length < length) chunk.push(last)
    yield chunk
  }
}

/** Splits rows for a multi-row insert into powers of two, largest first: nine distinct statements at most, all of bounded size. */
export function* rowChunks<T>(rows: readonly T[]): Generator<T[]> {
  let at = 0
  for (let length = maxRows; length >= 1; length /= 2) {
    for (; rows.length - at >= length; at += length) yield rows.slice(at, at + length)
  }
}

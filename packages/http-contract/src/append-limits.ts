/*
 * What one append may hold, whatever its bytes: 16 MiB of the smallest records are two million of them, which would keep a server from all
 * else for seconds, and take a gigabyte of its memory.
 */

export const recordsPerAppendMax = 100_000
/** Of all records of a request together. */
export const headersPerAppendMax = 100_000
/** In JSON: arrays and objects within each other. Headers in base64 are six deep. */
export const jsonDepthMax = 16
/** In JSON: all values of a body, members and elements of all levels. */
export const jsonValuesMax = 600_000

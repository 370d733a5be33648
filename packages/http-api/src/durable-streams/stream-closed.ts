/** `Stream-Closed` counts when it says `true`, whatever the case; everything else is as if it were not there. */
export function isTrue(header: string | undefined): boolean {
  return header?.toLowerCase() === 'true'
}

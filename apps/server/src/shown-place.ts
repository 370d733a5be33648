import type { StoreUri } from './store-uri.ts'

/** For people: `the folder /var/lib/pico`, `s3://bucket/prefix/`. */
export function shownPlace({ place }: StoreUri): string {
  return place.scheme === 'file' ? `the folder ${place.folder}` : `s3://${place.bucket}/${place.prefix}`
}

import type { Row } from './report.ts'
import type { RoundSettings } from './rounds.ts'

export async function benchLiveReaders(_settings: RoundSettings): Promise<Row[]> {
  return []
}

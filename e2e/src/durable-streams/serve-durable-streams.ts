import { type PicoServer, type PicoSettings, startPico } from '../pico.ts'

/** The built `pico serve --protocol ds`. Long polls end soon, as vitest gives a test of the official suite 5 s. */
export function serveDurableStreams(settings: PicoSettings = {}): Promise<PicoServer> {
  const flags = ['--protocol', 'ds', '--long-poll-timeout-sec', '1', ...(settings.flags ?? [])]
  return startPico({ ...settings, flags })
}

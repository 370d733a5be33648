import { accepts, freePort } from '../child-process.ts'
import { type PicoServer, type PicoSettings, startPico } from '../pico.ts'

export interface DurableStreamsServer {
  /** `http://127.0.0.1:port` */
  readonly baseUrl: string
  readonly pico: PicoServer
}

/** The built `pico serve --protocol ds`. Long polls end soon, as vitest gives a test of the suite 5 s. */
export async function serveDurableStreams(settings: PicoSettings = {}): Promise<DurableStreamsServer> {
  const port = await freePort()
  const flags = ['--protocol', 'ds', '--listen', `127.0.0.1:${port}`, '--long-poll-timeout-sec', '1']
  const pico = await startPico({ ...settings, flags: [...flags, ...(settings.flags ?? [])] })
  if (!(await accepts(port))) throw new Error(`pico does not listen on ${port}:\n${pico.process.output()}`)
  return { baseUrl: `http://127.0.0.1:${port}`, pico }
}

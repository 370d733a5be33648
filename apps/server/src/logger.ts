import { type DestinationStream, destination, type Logger, pino } from 'pino'

/** JSON lines, or readable ones when somebody reads along. To stderr: stdout is for data. */
export async function openLogger(level: string, { pretty }: { readonly pretty: boolean }): Promise<Logger> {
  const settings = { level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }
  return pino(settings, pretty ? await prettyStream() : destination({ fd: 2, sync: true }))
}

/** Loaded only here: a server that logs for machines starts without it. */
async function prettyStream(): Promise<DestinationStream> {
  const { default: prettyPrinter } = await import('pino-pretty')
  return prettyPrinter({ destination: 2, sync: true, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname' })
}

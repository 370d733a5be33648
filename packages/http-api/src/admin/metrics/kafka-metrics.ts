import { Counter, Gauge, type Registry } from 'prom-client'
import { ByKey, DurationHistogram, type Durations } from './duration-histogram.ts'

/** Told what happens on the Kafka listener: the observer that @pico/kafka-api asks for. */
export interface KafkaTraffic {
  connectionOpened(): void
  connectionClosed(): void
  connectionRefused(): void
  requestAnswered(apiName: string, apiVersion: number, latencyMs: number, answerBytes: number): void
  errorAnswered(apiName: string, errorName: string): void
}

export function kafkaMetrics(registry: Registry): KafkaTraffic {
  const registers = [registry]
  const connections = new Gauge({ name: 'pico_kafka_connections', help: 'Open Kafka connections', registers })
  const refused = new Counter({
    name: 'pico_kafka_connections_refused_total',
    help: 'Kafka connections closed at once because there were enough',
    registers,
  })
  const durations = new DurationHistogram(
    registry,
    'pico_kafka_request_duration_seconds',
    'From the start of a Kafka request to its answer; waits that the client asked for included',
  )
  const errors = new Counter({
    name: 'pico_kafka_errors_total',
    help: 'Errors in answers to Kafka requests, once for each partition, topic or group that has it',
    labelNames: ['api', 'error'],
    registers,
  })
  const lines: { readonly api: string; readonly durations: Durations; answerBytes: number }[] = []
  new Counter({
    name: 'pico_kafka_answer_bytes_total',
    help: 'Bytes of answers to Kafka requests',
    labelNames: ['api'],
    registers,
    collect() {
      this.reset()
      for (const { api, answerBytes } of lines) this.inc({ api }, answerBytes)
    },
  })
  const byApi = new ByKey((api) => {
    const line = { api, durations: durations.line({ api }), answerBytes: 0 }
    lines.push(line)
    return line
  })
  return {
    connectionOpened: () => connections.inc(),
    connectionClosed: () => connections.dec(),
    connectionRefused: () => refused.inc(),
    requestAnswered(apiName, _, latencyMs, answerBytes) {
      const line = byApi.get(apiName)
      line.durations.observe(latencyMs)
      line.answerBytes += answerBytes
    },
    errorAnswered: (api, error) => errors.inc({ api, error }),
  }
}

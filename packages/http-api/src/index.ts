export type { AdminBackend } from './admin/admin-backend.ts'
export type { Directory, KnownNode, KnownStream, KnownTransfer } from './admin/directory.ts'
export type { GroupView } from './admin/group-view.ts'
export { type AdminComponents, listenAdmin } from './admin/listen-admin.ts'
export type { KafkaTraffic } from './admin/metrics/kafka-metrics.ts'
export type { LogFigures } from './admin/metrics/log-metrics.ts'
export { createServerMetrics, type ServerFacts, type ServerMetrics } from './admin/metrics/server-metrics.ts'
export type { StoreFigures } from './admin/metrics/store-metrics.ts'
export {
  defaultReadinessSettings,
  type Probe,
  Readiness,
  type ReadinessSettings,
  type ServingState,
} from './admin/readiness.ts'
export { listenSchemaRegistry, type SchemaRegistryComponents } from './confluent/listen-schema-registry.ts'
export { defaultHttpSettings, type HttpSettings } from './http-settings.ts'
export { type HttpComponents, listenHttp } from './listen-http.ts'
export { type OpenApiSettings, openApiDocument } from './openapi/openapi-document.ts'
export type { HttpListener, HttpServerComponents } from './server/http-server.ts'
export { type HttpObserver, type HttpRoute, type LiveKind, silentHttpObserver } from './server/observer.ts'
export { defaultHttpServerSettings, type HttpServerSettings } from './server/settings.ts'
export type { Clock, Logger } from './server/surroundings.ts'

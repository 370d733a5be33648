export type { Clock } from './clock.ts'
export { type Broker, type Cluster, defaultKafkaApiSettings, type KafkaApiSettings } from './dependencies.ts'
export type {
  CommittedGroupOffset,
  GroupDescription,
  GroupList,
  GroupMember,
  GroupReader,
  GroupRefused,
  GroupSummary,
} from './groups/group-reader.ts'
export type { KafkaClient } from './handler.ts'
export { createKafkaApi, type KafkaApi, type KafkaApiComponents, KafkaRequestRefusedError } from './kafka-api.ts'
export {
  defaultListenSettings,
  type KafkaListener,
  type ListenComponents,
  type ListenSettings,
  listenKafka,
} from './listener.ts'
export { type KafkaObserver, type Logger, silentObserver } from './observer.ts'

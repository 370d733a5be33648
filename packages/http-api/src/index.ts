export type { Clock, Logger } from './server/surroundings.ts'

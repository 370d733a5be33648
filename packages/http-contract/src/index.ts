export { type ErrorCode, errorStatuses } from './errors.ts'

export { openPostgresMetadata, type PostgresMetadataSettings } from './postgres/open.ts'

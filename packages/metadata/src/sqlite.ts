export { openSqliteMetadata, type SqliteMetadataSettings } from './sqlite/open.ts'

/* What worker threads run that compile schemas and judge records by them: see open-schemas.ts. */
import '@pico/schema-registry/worker'

import { GenericContainer, getContainerRuntimeClient, Wait } from 'testcontainers'
import type { StartedS3 } from './s3-versitygw.ts'

const image = 'minio/minio:RELEASE.2025-09-07T16-13-09Z'
const port = 9000

/** MinIO in a container; null where no Docker engine answers. */
export async function startMinio(credentials: {
  readonly AWS_ACCESS_KEY_ID: string
  readonly AWS_SECRET_ACCESS_KEY: string
}): Promise<StartedS3 | null> {
  try {
    await getContainerRuntimeClient()
  } catch (error) {
    console.log(`no Docker engine: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
  const container = await new GenericContainer(image)
    .withCommand(['server', '/data'])
    .withEnvironment({
      MINIO_ROOT_USER: credentials.AWS_ACCESS_KEY_ID,
      MINIO_ROOT_PASSWORD: credentials.AWS_SECRET_ACCESS_KEY,
    })
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forHttp('/minio/health/ready', port))
    .start()
  return {
    name: image,
    endpoint: `http://${container.getHost()}:${container.getMappedPort(port)}`,
    close: () => container.stop(),
  }
}

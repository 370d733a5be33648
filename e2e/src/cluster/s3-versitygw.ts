import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accepts, freePort, run, startProcess } from '../child-process.ts'
import { cache, goTool, once, provide } from '../toolchain.ts'

/** https://github.com/versity/versitygw: S3 over a folder. */
const version = 'v1.8.0'

const versitygwTool = once(async (): Promise<string> => {
  const folder = join(cache, 'versitygw')
  await provide(folder, [import.meta.filename], async (draft) => {
    const { go } = await goTool()
    const module = `github.com/versity/versitygw/cmd/versitygw@${version}`
    await run(go, ['install', '-trimpath', module], { env: { GOBIN: draft, GOFLAGS: '' }, timeoutMs: 900_000 })
  })
  return join(folder, 'versitygw')
})

export interface StartedS3 {
  readonly name: string
  readonly endpoint: string
  close(): Promise<unknown>
}

export async function startVersitygw(credentials: {
  readonly AWS_ACCESS_KEY_ID: string
  readonly AWS_SECRET_ACCESS_KEY: string
}): Promise<StartedS3> {
  const command = await versitygwTool()
  const folder = mkdtempSync(join(tmpdir(), 'pico-s3-'))
  const [objects, attributes] = [join(folder, 'objects'), join(folder, 'attributes')]
  mkdirSync(objects)
  mkdirSync(attributes) // beside the files: not every file system has extended attributes
  const port = await freePort()
  const gateway = await startProcess({
    name: 'versitygw',
    command,
    args: ['--port', `127.0.0.1:${port}`, '--keep-alive', '--quiet', 'posix', '--sidecar', attributes, objects],
    env: {
      ROOT_ACCESS_KEY_ID: credentials.AWS_ACCESS_KEY_ID,
      ROOT_SECRET_ACCESS_KEY: credentials.AWS_SECRET_ACCESS_KEY,
    },
    ready: () => accepts(port),
  })
  return {
    name: `versitygw ${version}`,
    endpoint: `http://127.0.0.1:${port}`,
    async close() {
      await gateway.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

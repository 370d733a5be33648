import { globSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run, startProcess } from '../child-process.ts'
import { cache, goTool, javaTools, once, provide } from '../toolchain.ts'

const e2e = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Flags and class of a Java member of a group: of the many that one test starts, each takes half the time where classes
 * come from an archive (JEP 350), which wants them in jars.
 */
export const javaGroupMember = once(async (): Promise<readonly string[]> => {
  await javaTools()
  const home = join(cache, 'java')
  const source = join(e2e, 'java/src/GroupMember.java')
  const inputs = [join(e2e, 'java/pom.xml'), source]
  const jars = join(home, 'group-member')
  await provide(jars, inputs, async (draft) => {
    const cwd = join(home, 'classes')
    await run('jar', ['cf', join(draft, 'group-member.jar'), ...globSync('GroupMember*.class', { cwd })], { cwd })
  })
  const needed = globSync('{kafka-clients,slf4j,lz4,snappy,zstd}*.jar', { cwd: join(home, 'lib') }).sort()
  const classpath = [join(jars, 'group-member.jar'), ...needed.map((jar) => join(home, 'lib', jar))].join(':')
  const lean = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx96m']
  const flags = [...lean, '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', classpath]
  const archive = join(home, 'group-member-archive')
  await provide(archive, inputs, async (draft) => {
    const nowhere = ['unused', 'bootstrap.servers=127.0.0.1:1', 'group.id=unused']
    const member = await startProcess({
      name: 'GroupMember',
      command: 'java',
      args: [`-XX:ArchiveClassesAtExit=${join(draft, 'classes.jsa')}`, ...flags, 'GroupMember', ...nowhere],
      ready: (output) => output.includes('could not be established'),
    })
    await member.stop(60_000)
  })
  return [`-XX:SharedArchiveFile=${join(archive, 'classes.jsa')}`, ...flags, 'GroupMember']
})

/** Our own programs of `e2e/go`, with franz-go. */
export const goTools = once(async (): Promise<{ groupMember: string }> => {
  const folder = join(e2e, 'go')
  const inputs = globSync('*.{go,mod,sum}', { cwd: folder }).sort()
  const { go } = await goTool()
  const bin = join(cache, 'go/bin')
  await provide(
    bin,
    inputs.map((name) => join(folder, name)),
    async (draft) => {
      const output = join(draft, 'group_member')
      await run(go, ['build', '-trimpath', '-buildvcs=false', '-mod=readonly', '-o', output, '.'], {
        cwd: folder,
        timeoutMs: 600_000,
      })
    },
  )
  return { groupMember: join(bin, 'group_member') }
})

/*
 * The command's first file. It imports nothing, because it must run on any Node that knows modules: what it loads next uses syntax and
 * modules (node:sqlite, zstd in node:zlib) that an older one does not have.
 */
const needed = [22, 15] as const
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  console.error(`pico needs Node ${needed.join('.')} or newer; this is ${process.versions.node}`)
  process.exitCode = 1
} else {
  import('./main.ts')
    .then(({ main }) => main(process.argv.slice(2), process.env))
    .then((exitCode) => {
      process.exitCode = exitCode
    })
}

import { spawn } from 'node:child_process'
import { startPico } from './src/pico.ts'
import { runLoad } from './src/bench/http/load.ts'
import { createStream } from './src/bench/http/prepare.ts'
import { peakRssBytes } from './src/process-usage.ts'
const which = (process.argv[2] ?? 'base,pico').split(','), conns = (process.argv[3] ?? '32').split(',')
const prof = process.env['PROF'], ms = Number(process.env['MS'] ?? 6000)
const flags = (process.env['FLAGS'] ?? '').split(' ').filter(Boolean)
for (const w of which) for (const spec of conns) {
  const [c, batch] = spec.split('x').map(Number)
  let admin = ''; let port: number, pid: number, close: () => Promise<unknown>
  if (w === 'base') {
    const p = spawn(process.execPath, ['-e', `const s=require('http').createServer((q,r)=>{const b=[];q.on('data',c=>b.push(c));q.on('end',()=>{r.writeHead(200,{'content-type':'application/json','content-length':2});r.end('{}')})}).listen(0,'127.0.0.1',()=>console.log(s.address().port))`], { stdio: ['ignore', 'pipe', 'inherit'] })
    port = await new Promise((r) => p.stdout.once('data', (d) => r(Number(d.toString()))))
    pid = p.pid!; close = async () => p.kill()
  } else {
    const pico = await startPico({ flags, nodeFlags: prof ? ['--cpu-prof', `--cpu-prof-dir=${prof}`, '--cpu-prof-interval', '500'] : [], ...(process.env['WAL'] ? { wal: 'shared' as const } : {}) })
    port = Number(new URL(pico.httpUrl).port); pid = pico.process.pid; admin = pico.adminUrl; close = () => pico.close()
    await createStream(port, '/bench', batch ? 'application/vnd.picomq.batch' : 'application/octet-stream')
  }
  const r = await runLoad({ kind: 'append', port, serverPid: pid, paths: ['/bench'], expectedStatus: 200, warmupMs: 3000, measuredMs: ms, contentType: batch ? 'application/vnd.picomq.batch' : 'application/octet-stream', body: { recordBytes: 1024, ...(batch ? { recordsPerBatch: batch } : {}) }, connections: c! })
  const rate = r.completed / r.seconds
  console.log(w, spec, `${rate.toFixed(0)}/s ${(r.bytes / 1048576 / r.seconds).toFixed(1)} MB/s p50 ${r.latencyMs.p50.toFixed(2)} p99 ${r.latencyMs.p99.toFixed(2)} server ${(r.serverCpuShare * 100).toFixed(0)}% load ${(r.loadCpuShare * 100).toFixed(0)}% cpu/req ${(r.serverCpuShare / rate * 1e6).toFixed(1)} us rss ${(peakRssBytes(pid) / 1048576).toFixed(0)}`)
  if (admin && process.env['METRICS']) console.log((await (await fetch(admin + '/metrics')).text()).split('\n').filter((l) => !l.startsWith('#') && /bytes|memory/.test(l)).join('\n'))
  await close()
}

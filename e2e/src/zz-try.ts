import { heartbeat, joinGroup, offsetCommit, syncGroup } from '@pico/kafka-codec'
import { startPico } from './pico.ts'
import { startKafkaOracle } from './kafka-oracle.ts'
import { connectRaw, type RawConnection } from './raw-kafka.ts'
import { createTopicsOf } from './raw-topics.ts'
import { setTimeout as sleep } from 'node:timers/promises'
const kafka = process.argv[2]==='kafka'
const b = kafka ? await startKafkaOracle({properties:{'group.initial.rebalance.delay.ms':'300'}}) : await startPico({ flags: ['--kafka-group-initial-rebalance-delay-ms','300'], nodeFlags: process.argv[3]? ['--cpu-prof','--cpu-prof-dir=/tmp/prof2']:[] })
await sleep(1000)
await createTopicsOf(b.port,['t'])
const meta=Buffer.alloc(50)
async function enter(c: RawConnection, groupId: string) {
  const rq=(memberId:string)=>({groupId,sessionTimeoutMs:300000,rebalanceTimeoutMs:60000,memberId,groupInstanceId:null,protocolType:'consumer',protocols:[{name:'range',metadata:meta}],reason:null})
  let id=''
  for(;;){
  const j=await c.ask(joinGroup,9,rq(id))
  if(j.errorCode===79) { id=j.memberId; continue }
  if (j.errorCode!==0) { if (j.errorCode===25) id=''; await sleep(100); continue }
  const s=await c.ask(syncGroup,5,{groupId,generationId:j.generationId,memberId:j.memberId,groupInstanceId:null,protocolType:'consumer',protocolName:'range',assignments:j.members.map(m=>({memberId:m.memberId,assignment:Buffer.alloc(20)}))})
  if (s.errorCode!==0) { continue }
  return j}
}
const pct=(xs:number[],p:number)=>xs.sort((a,b)=>a-b)[Math.floor(xs.length*p)]!.toFixed(2)
{
  const members:{c:RawConnection,g:string,j:{memberId:string,generationId:number}}[]=[]
  const t=performance.now()
  for (let g=0; g<1000; g+=250) { await Promise.all(Array.from({length:250},async(_,k)=>{ const id=`g${g+k}`; const cs=await Promise.all([1,2,3].map(()=>connectRaw(b.port,{timeoutMs:120000}))); const js=await Promise.all(cs.map(c=>enter(c,id))); js.forEach((j,i)=>members.push({c:cs[i]!,g:id,j})) })); console.log('formed',g+250,(performance.now()-t).toFixed(0)) }
  console.log('1000 groups of 3 formed in',(performance.now()-t).toFixed(0),'ms; generations', [...new Set(members.map(m=>m.j.generationId))])
  const lat:number[]=[]; let bad=0
  const end=Date.now()+15000
  await Promise.all(members.map(async(m,i)=>{ await sleep(i); while(Date.now()<end){ const s=performance.now(); const h=await m.c.ask(heartbeat,4,{groupId:m.g,generationId:m.j.generationId,memberId:m.j.memberId,groupInstanceId:null}); lat.push(performance.now()-s); if(h.errorCode!==0) bad++; await sleep(3000)} }))
  console.log('heartbeats',lat.length,'bad',bad,'p50',pct(lat,.5),'p99',pct(lat,.99),'max',pct(lat,.9999))
  for (const n of [50, 1]) {
  const committers=members.filter((_,i)=>i%60===0).slice(0,n)
  let commits=0; bad=0; const cl:number[]=[]; const until=performance.now()+8000
  await Promise.all(committers.map(async m=>{ let o=0; while(performance.now()<until){ const s=performance.now(); const a=await m.c.ask(offsetCommit,8,{groupId:m.g,generationIdOrMemberEpoch:m.j.generationId,memberId:m.j.memberId,groupInstanceId:null,retentionTimeMs:-1n,topics:[{name:'t',topicId:'00000000-0000-0000-0000-000000000000',partitions:[{partitionIndex:0,committedOffset:BigInt(o++),committedLeaderEpoch:-1,commitTimestamp:-1n,committedMetadata:''}]}]}); cl.push(performance.now()-s); if(a.topics[0]!.partitions[0]!.errorCode!==0) bad++; commits++ } }))
  console.log('commits/s',(commits/8).toFixed(0),'from',committers.length,'p50',pct(cl,.5),'p99',pct(cl,.99),'bad',bad) }
  for(const m of members) m.c.close()
}
await b.close(); process.exit(0)

import { PicoClient, PicoError } from '@pico/client'

const client = new PicoClient({ endpoint: process.env['PICO_ENDPOINT'] ?? 'http://127.0.0.1:4437' })
const orders = client.stream('orders/eu')
await orders.create({ contentType: 'text/plain' })

await orders.append('first')
await orders.append({ body: 'second', key: 'eu', headers: { trace: 'abc' } })

const producer = orders.producer() // batches, pipelines, repeats what was lost: each record once
const { acknowledged } = await producer.append('third') // waits for room, not for the server
console.log('third is durable as', await acknowledged)
await producer.close()

for await (const { seq, key, text } of orders.records()) console.log(seq, key, text)

setTimeout(() => orders.append('fourth', { close: true }), 100)
for await (const { seq, text } of orders.tail({ from: 3, live: 'sse' })) console.log('live', seq, text)

await orders.append('too late').catch((error) => {
  if (error instanceof PicoError) console.log(error.code, error.status, error.nextSeq)
})
await client.close()

import { DurableStreamsClient } from '@pico/client'

const client = new DurableStreamsClient({ endpoint: process.env['PICO_ENDPOINT'] ?? 'http://127.0.0.1:4437' })
const chat = client.stream('chat')
await chat.create({ contentType: 'application/json' })
await chat.appendJson({ text: 'hello' })
const { next } = await chat.read() // an offset: only to be given back
await chat.appendJson(['an', 'array'])
for await (const chunk of chat.chunks({ from: next })) console.log(chunk.messages())
await client.close()

import type { CorsRules } from '../server/cors.ts'

/** What web pages may send to, and see of, a server of Durable Streams. */
export const durableStreamsCors: CorsRules = {
  methods: 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
  requestHeaders: [
    'Content-Type',
    'Authorization',
    'If-None-Match',
    'Stream-Seq',
    'Stream-TTL',
    'Stream-Expires-At',
    'Stream-Closed',
    'Producer-Id',
    'Producer-Epoch',
    'Producer-Seq',
    'Stream-Forked-From',
    'Stream-Fork-Offset',
    'Stream-Fork-Sub-Offset',
  ].join(', '),
  exposedHeaders: [
    'Stream-Next-Offset',
    'Stream-Cursor',
    'Stream-Up-To-Date',
    'Stream-Closed',
    'Stream-TTL',
    'Stream-Expires-At',
    // Without it no browser can read events of binary streams.
    'Stream-SSE-Data-Encoding',
    'Producer-Epoch',
    'Producer-Seq',
    'Producer-Expected-Seq',
    'Producer-Received-Seq',
    'ETag',
    'Location',
    'Retry-After',
    'Content-Type',
    'Content-Encoding',
    'Vary',
  ].join(', '),
}

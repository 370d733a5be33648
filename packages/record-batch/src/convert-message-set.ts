import { BatchBuilder } from './batch-builder.ts'
import { frameAt } from './frame-produced.ts'
import { type Message, readMessage, readWrapped } from './message-set.ts'
import { type CompressionType, targetCodec } from './produce-rules.ts'
import { produceErrors, type RecordError, type RefusedBatch, refused, refusedBecause } from './produce-verdict.ts'

export type ConversionRules = {
  /** max.message.bytes: of each message sent. */
  readonly maxMessageBytes: number
  readonly maxDecompressedBytes: number
  readonly compressionType: CompressionType
}

export type ConvertedMessageSet = {
  readonly accepted: true
  /** One RecordBatch v2 of base offset 0, as a producer would send it, under the codec it is to be stored with. */
  readonly bytes: Uint8Array
  /** Of the messages that were sent. */
  readonly magic: 0 | 1
}

/**
 * Makes one v2 batch of a message set of magic 0 or 1, as brokers up to Kafka 3 did for Produce 0 to 2: every CRC-32 is
 * verified, a compressed message is opened one level, magic 0 gets the timestamp -1, offsets become 0, 1, 2 …
 * A message cut off at the end is ignored. A set in which a message claims LogAppendTime becomes such a batch, which
 * `validateProduced` then refuses.
 */
export function convertMessageSet(bytes: Uint8Array, rules: ConversionRules): ConvertedMessageSet | RefusedBatch {
  try {
    const sent = readSent(bytes, rules)
    if (!Array.isArray(sent)) return sent
    const [first, second] = sent
    if (first === undefined) return refused(produceErrors.invalidRecord, 'the records hold no complete message')
    const wrapper = sent.findLast((message) => message.codec !== 'none')
    if (wrapper === undefined) return buildBatch(sent, first, rules)
    if (second !== undefined) {
      return refused(produceErrors.invalidRecord, 'a compressed message beside others, where it has to be alone')
    }
    return convertWrapped(wrapper, rules)
  } catch (error) {
    return refusedBecause(error)
  }
}

/** The messages as sent, wrappers unopened. Size before CRC, message by message, as Kafka's UnifiedLog has it. */
function readSent(bytes: Uint8Array, rules: ConversionRules): Message[] | RefusedBatch {
  const messages: Message[] = []
  for (let at = 0; ; ) {
    const byteLength = frameAt(bytes, at)
    if (typeof byteLength !== 'number') return byteLength
    if (byteLength === 0) return messages
    if (byteLength > rules.maxMessageBytes) {
      return refused(
        produceErrors.messageTooLarge,
        `a message of ${byteLength} bytes is larger than the ${rules.maxMessageBytes} that the topic allows`,
      )
    }
    const message = readMessage(bytes, at, byteLength)
    const first = messages[0]
    if (first !== undefined && first.magic !== message.magic) {
      return refused(produceErrors.invalidRecord, `magic ${message.magic} after magic ${first.magic} in one set`)
    }
    messages.push(message)
    at += byteLength
  }
}

function convertWrapped(wrapper: Message, rules: ConversionRules): ConvertedMessageSet | RefusedBatch {
  if (wrapper.codec === 'zstd') {
    return refused(produceErrors.unsupportedCompressionType, 'zstd needs Produce version 7 or later')
  }
  const messages = readWrapped(wrapper, rules.maxDecompressedBytes)
  const recordErrors: RecordError[] = []
  messages.forEach((message, batchIndex) => {
    if (message.codec !== 'none') recordErrors.push({ batchIndex, message: 'a compressed message inside another' })
    else if (message.magic !== wrapper.magic) {
      recordErrors.push({ batchIndex, message: `magic ${message.magic} inside magic ${wrapper.magic}` })
    }
  })
  if (recordErrors.length > 0) {
    return refused(produceErrors.invalidRecord, `${recordErrors.length} messages of the set are invalid`, recordErrors)
  }
  return buildBatch(messages, wrapper, rules)
}

function buildBatch(messages: readonly Message[], sent: Message, rules: ConversionRules): ConvertedMessageSet {
  const stamped = messages.find((message) => message.hasLogAppendTime)
  const builder = new BatchBuilder({
    codec: targetCodec(rules.compressionType, sent.codec),
    ...(stamped === undefined ? {} : { logAppendTimeMs: stamped.timestamp }),
  })
  for (const { timestamp, key, value } of messages) builder.append({ timestamp, key, value })
  return { accepted: true, bytes: builder.build(), magic: sent.magic }
}

/** Kafka's error codes for what the gate refuses. Those for the content of a batch are `produceErrors` of @pico/record-batch. */
export const gateErrors = {
  unknownTopicOrPartition: 3,
  notLeaderOrFollower: 6,
  /** Of a stream that was closed: Kafka has no word for it, and clients do not try again. */
  policyViolation: 44,
  outOfOrderSequenceNumber: 45,
  invalidProducerEpoch: 47,
} as const

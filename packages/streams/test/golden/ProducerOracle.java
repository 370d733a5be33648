package org.apache.kafka.storage.internals.log;

import java.nio.file.Files;
import java.util.*;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.errors.*;
import org.apache.kafka.common.record.internal.*;
import org.apache.kafka.common.utils.Time;

/**
 * Puts random batches before Kafka's own ProducerStateManager, in the order in which UnifiedLog asks (duplicate, then epoch, then
 * sequence), and prints what it says. Producers expire after 1000 ms here. A step is
 * [nowMs, producerId, epoch, firstSequence, count, verdict], the verdict being what the batch would be told: its base offset, or
 * the base offset of what it repeats with "=" in front, or the name of the refusal.
 *
 *   javac -cp 'e2e/.cache/java/lib/*' -d /tmp ProducerOracle.java
 *   java -cp 'e2e/.cache/java/lib/*:/tmp' org.apache.kafka.storage.internals.log.ProducerOracle > producers.json
 */
public class ProducerOracle {
  static final int EXPIRATION_MS = 1000;

  public static void main(String[] args) throws Exception {
    System.out.println("{\n  \"source\": \"kafka-storage 4.4.0, ProducerStateManager, by ProducerOracle.java\",");
    System.out.println("  \"expirationMs\": " + EXPIRATION_MS + ",\n  \"runs\": [");
    for (int seed = 1; seed <= 12; seed++) System.out.println(run(new Random(seed)) + (seed < 12 ? "," : ""));
    System.out.println("  ]\n}");
  }

  static String run(Random random) throws Exception {
    ProducerStateManager manager = new ProducerStateManager(new TopicPartition("t", 0),
        Files.createTempDirectory("producers").toFile(), 60_000, new ProducerStateManagerConfig(EXPIRATION_MS, false), Time.SYSTEM);
    List<String> steps = new ArrayList<>();
    List<int[]> sent = new ArrayList<>(); // producer, epoch, first sequence, count
    long now = 0, nextOffset = 0;
    for (int step = 0; step < 120; step++) {
      now += random.nextInt(20) == 0 ? EXPIRATION_MS : random.nextInt(20);
      manager.removeExpiredProducers(now);
      int[] batch = pick(random, manager, sent);
      SimpleRecord[] records = new SimpleRecord[batch[3]];
      Arrays.fill(records, new SimpleRecord(now, "v".getBytes()));
      RecordBatch bytes = MemoryRecords.withIdempotentRecords(nextOffset, Compression.NONE, batch[0], (short) batch[1], batch[2], 0, records)
          .batches().iterator().next();
      String verdict = judge(manager, bytes);
      if (verdict == null) {
        verdict = String.valueOf(nextOffset);
        nextOffset += batch[3];
      }
      sent.add(batch);
      steps.add("[" + now + ", " + batch[0] + ", " + batch[1] + ", " + batch[2] + ", " + batch[3] + ", \"" + verdict + "\"]");
    }
    return "    [" + String.join(", ", steps) + "]";
  }

  /** Mostly what a producer would send next, often a repetition, sometimes anything. */
  static int[] pick(Random random, ProducerStateManager manager, List<int[]> sent) {
    int dice = random.nextInt(10);
    if (dice < 3 && !sent.isEmpty()) return sent.get(Math.max(0, sent.size() - 1 - random.nextInt(12)));
    int producer = random.nextInt(3), count = 1 + random.nextInt(4);
    ProducerStateEntry known = manager.lastEntry(producer).orElse(null);
    if (known == null || dice == 3) {
      int first = new int[] {0, 1, 7, Integer.MAX_VALUE - 3, Integer.MAX_VALUE}[random.nextInt(5)];
      return new int[] {producer, known == null ? random.nextInt(3) : Math.max(0, known.producerEpoch() + random.nextInt(3) - 1), first, count};
    }
    int next = DefaultRecordBatch.incrementSequence(known.lastSeq(), 1);
    if (dice == 4) return new int[] {producer, known.producerEpoch() + 1, 0, count};
    if (dice == 5) return new int[] {producer, known.producerEpoch(), DefaultRecordBatch.incrementSequence(next, random.nextInt(3)), count};
    return new int[] {producer, known.producerEpoch(), next, count};
  }

  static String judge(ProducerStateManager manager, RecordBatch batch) {
    Optional<BatchMetadata> duplicate = manager.lastEntry(batch.producerId()).flatMap(entry -> entry.findDuplicateBatch(batch));
    if (duplicate.isPresent()) return "=" + duplicate.get().firstOffset() + "@" + duplicate.get().timestamp();
    try {
      ProducerAppendInfo append = manager.prepareUpdate(batch.producerId(), AppendOrigin.CLIENT);
      append.append(batch, Optional.empty());
      manager.update(append);
      return null;
    } catch (InvalidProducerEpochException old) {
      return "INVALID_PRODUCER_EPOCH";
    } catch (OutOfOrderSequenceException gap) {
      return "OUT_OF_ORDER_SEQUENCE_NUMBER";
    }
  }
}

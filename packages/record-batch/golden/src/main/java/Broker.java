import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Supplier;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.server.util.KafkaScheduler;
import org.apache.kafka.storage.internals.log.AppendOrigin;
import org.apache.kafka.storage.internals.log.LogAppendInfo;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.LogDirFailureChannel;
import org.apache.kafka.storage.internals.log.ProducerStateManagerConfig;
import org.apache.kafka.storage.internals.log.RecordValidationException;
import org.apache.kafka.storage.internals.log.UnifiedLog;
import org.apache.kafka.storage.log.metrics.BrokerTopicStats;

/** The path of a produced batch through a broker: the request's own checks, then an append to a fresh partition. */
final class Broker implements AutoCloseable {
    static final long NOW = Fixtures.T0 + 60_000;
    static final int LEADER_EPOCH = 5;

    private final Path directory;
    private final KafkaScheduler scheduler = new KafkaScheduler(1);
    private final BrokerTopicStats stats = new BrokerTopicStats();
    private int partitions = 0;

    Broker(Path directory) {
        this.directory = directory;
        scheduler.startup();
    }

    @Override
    public void close() throws InterruptedException {
        scheduler.shutdown();
        stats.close();
    }

    void judge(short version, byte[] bytes, Map<String, String> config, ObjectNode entry) throws Exception {
        MemoryRecords records = MemoryRecords.readableRecords(ByteBuffer.wrap(bytes));
        Path partition = directory.resolve("topic-" + partitions++);
        Files.createDirectories(partition);
        Properties properties = new Properties();
        properties.putAll(config);
        UnifiedLog log = UnifiedLog.create(partition.toFile(), new LogConfig(properties), 0L, 0L, scheduler, stats,
            FIXED_TIME, 900_000, new ProducerStateManagerConfig(86_400_000, false), 600_000,
            new LogDirFailureChannel(1), true, Optional.empty());
        try {
            if (version >= 3) ProduceRequest.validateRecords(version, records);
            LogAppendInfo info = log.appendAsLeader(records, LEADER_EPOCH, AppendOrigin.CLIENT);
            log.flush(false);
            entry.put("errorCode", 0);
            entry.put("logAppendTime", info.logAppendTime());
            entry.put("maxTimestamp", info.maxTimestamp());
            byte[] stored = stored(partition);
            entry.put("stored", Fixtures.base64(stored));
            entry.set("records", recordsOrNull(stored));
        } catch (RecordValidationException invalid) {
            entry.put("errorCode", Errors.forException(invalid.invalidException()).code());
            ArrayNode errors = entry.putArray("recordErrors");
            for (ProduceResponse.RecordError error : invalid.recordErrors()) errors.add(error.batchIndex);
        } catch (Throwable error) {
            entry.put("errorCode", Errors.forException(error).code());
            entry.put("error", error.getClass().getSimpleName());
        } finally {
            log.close();
        }
    }

    /** What a consumer would read of it; null if Kafka has stored what its own clients cannot read. */
    private static ArrayNode recordsOrNull(byte[] stored) {
        try {
            return Fixtures.records(stored);
        } catch (RuntimeException unreadable) {
            return null;
        }
    }

    private static byte[] stored(Path partition) throws Exception {
        byte[] file = Files.readAllBytes(partition.resolve("00000000000000000000.log"));
        return Arrays.copyOf(file, MemoryRecords.readableRecords(ByteBuffer.wrap(file)).validBytes());
    }

    private static final Time FIXED_TIME = new Time() {
        @Override
        public long milliseconds() {
            return NOW;
        }

        @Override
        public long nanoseconds() {
            return NOW * 1_000_000;
        }

        @Override
        public void sleep(long ms) {}

        @Override
        public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {}
    };
}

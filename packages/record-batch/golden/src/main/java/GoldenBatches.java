import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;
import org.xerial.snappy.Snappy;

/** batches.json: RecordBatch v2 of every codec and attribute. message-sets.json: magic 0 and 1. */
final class GoldenBatches {
    private final List<ObjectNode> entries = new ArrayList<>();

    static void write(Path directory) throws Exception {
        GoldenBatches golden = new GoldenBatches();
        golden.batches();
        Fixtures.write(directory.resolve("batches.json"), golden.entries);
        golden.entries.clear();
        golden.messageSets();
        Fixtures.write(directory.resolve("message-sets.json"), golden.entries);
    }

    private void batches() throws IOException {
        for (CompressionType type : CompressionType.values()) {
            add(type.name + " varied", build((byte) 2, type, TimestampType.CREATE_TIME, 0, Fixtures.varied()));
            if (type != CompressionType.NONE) {
                add(type.name + " large", build((byte) 2, type, TimestampType.CREATE_TIME, 7, Fixtures.large()));
            }
            add(type.name + " random", build((byte) 2, type, TimestampType.CREATE_TIME, 0, Fixtures.random()));
            add(type.name + " log append time",
                build((byte) 2, type, TimestampType.LOG_APPEND_TIME, 1L << 40, Fixtures.varied()));
        }
        rawSnappy();
        add("no timestamps", build((byte) 2, CompressionType.NONE, TimestampType.CREATE_TIME, 0, List.of(
            new SimpleRecord(-1L, null, Fixtures.utf8("a")), new SimpleRecord(-1L, null, Fixtures.utf8("b")))));
        add("some timestamps", build((byte) 2, CompressionType.NONE, TimestampType.CREATE_TIME, 0, List.of(
            new SimpleRecord(-1L, null, Fixtures.utf8("a")), new SimpleRecord(Fixtures.T0, null, Fixtures.utf8("b")))));
        add("idempotent", builder(4096, 0, 1234567890123L, (short) 7, 0, false, false).appendAll(Fixtures.varied()));
        add("sequence wraps", builder(4096, 0, 1L, (short) 32767, Integer.MAX_VALUE - 2, false, false)
            .appendAll(Fixtures.varied()));
        add("transactional", builder(4096, 42, 99L, (short) 1, 5, true, false).appendAll(Fixtures.varied()));
        MemoryRecordsBuilder marker = builder(4096, 77, 99L, (short) 1, -1, true, true).inner;
        marker.appendEndTxnMarker(Fixtures.T0, new EndTransactionMarker(ControlRecordType.COMMIT, 3));
        add("commit marker", marker.build());
        MemoryRecordsBuilder horizon = new MemoryRecordsBuilder(new ByteBufferOutputStream(4096), (byte) 2,
            Fixtures.compression(CompressionType.NONE), TimestampType.CREATE_TIME, 10L, -1L, -1L, (short) -1, -1, false,
            false, 3, 4096, Fixtures.T0 + 500);
        horizon.append(new SimpleRecord(Fixtures.T0, Fixtures.utf8("tombstone"), (byte[]) null));
        add("delete horizon", horizon.build());
    }

    /** One block without snappy-java's framing, as librdkafka writes it. */
    private void rawSnappy() throws IOException {
        byte[] plain = GoldenVerdicts.recordBytes(
            Fixtures.bytes(build((byte) 2, CompressionType.NONE, TimestampType.CREATE_TIME, 0, Fixtures.varied())));
        byte[] block = Snappy.compress(plain);
        byte[] batch = GoldenVerdicts.packed(CompressionType.SNAPPY, block, b -> GoldenVerdicts.counts(b, 6));
        entries.add(Fixtures.describe("snappy raw", batch));
    }

    private void messageSets() {
        for (byte magic = 0; magic <= 1; magic++) {
            for (CompressionType type : CompressionType.values()) {
                if (type == CompressionType.ZSTD) continue;
                String name = "magic " + magic + " " + type.name;
                add(name, build(magic, type, TimestampType.CREATE_TIME, 0, Fixtures.plain()));
                if (type == CompressionType.NONE) continue;
                add(name + " at 1000", build(magic, type, TimestampType.CREATE_TIME, 1000, Fixtures.plain()));
                add(name + " large", build(magic, type, TimestampType.CREATE_TIME, 0, Fixtures.large()));
            }
        }
        add("magic 1 log append time",
            build((byte) 1, CompressionType.NONE, TimestampType.LOG_APPEND_TIME, 0, Fixtures.plain()));
        add("magic 1 gzip log append time",
            build((byte) 1, CompressionType.GZIP, TimestampType.LOG_APPEND_TIME, 0, Fixtures.plain()));
    }

    static MemoryRecords build(byte magic, CompressionType type, TimestampType timestampType, long baseOffset,
                               List<SimpleRecord> records) {
        MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(1 << 18), magic,
            Fixtures.compression(type), timestampType, baseOffset, Fixtures.T0 + 123);
        records.forEach(builder::append);
        return builder.build();
    }

    private static Appender builder(int bytes, long baseOffset, long producerId, short epoch, int sequence,
                                    boolean isTransactional, boolean isControl) {
        return new Appender(MemoryRecords.builder(ByteBuffer.allocate(bytes), (byte) 2,
            Fixtures.compression(CompressionType.NONE), TimestampType.CREATE_TIME, baseOffset, -1L, producerId, epoch,
            sequence, isTransactional, isControl, 12));
    }

    private record Appender(MemoryRecordsBuilder inner) {
        MemoryRecords appendAll(List<SimpleRecord> records) {
            records.forEach(inner::append);
            return inner.build();
        }
    }

    private void add(String name, MemoryRecords records) {
        entries.add(Fixtures.describe(name, Fixtures.bytes(records)));
    }
}

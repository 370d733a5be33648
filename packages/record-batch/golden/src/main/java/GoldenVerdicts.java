import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import net.jpountz.xxhash.XXHashFactory;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.SimpleRecord;
import org.apache.kafka.common.utils.internals.ByteBufferOutputStream;
import org.apache.kafka.common.utils.internals.Crc32C;

/**
 * verdicts.json: what a Kafka broker's own code answers to produced bytes, good and bad: the error code and record
 * errors, or the bytes it stores. Chosen cases, then seeded damage whose CRC is made right again.
 */
final class GoldenVerdicts {
    private static final int CRC_AT = 17;
    private static final int ATTRIBUTES_AT = 21;
    private static final int RECORDS_AT = 61;
    private static final CompressionType NONE = CompressionType.NONE;

    private final List<ObjectNode> entries = new ArrayList<>();
    private final Broker broker;

    private GoldenVerdicts(Broker broker) {
        this.broker = broker;
    }

    static void write(Path directory) throws Exception {
        Path logs = Files.createTempDirectory("verdicts");
        try (Broker broker = new Broker(logs)) {
            GoldenVerdicts golden = new GoldenVerdicts(broker);
            golden.framing();
            golden.headers();
            golden.records();
            golden.settings();
            golden.messageSets();
            golden.damage();
            Fixtures.write(directory.resolve("verdicts.json"), golden.entries);
        }
    }

    private void framing() throws Exception {
        byte[] good = small(NONE);
        judge("good", good);
        judge("empty", new byte[0]);
        for (int length : new int[] {1, 11, 12, 16, 17, 60, 61, good.length - 1}) {
            judge("cut to " + length, Arrays.copyOf(good, length));
        }
        for (int extra : new int[] {1, 12, 17, 40}) {
            judge("followed by a cut batch of " + extra, concat(good, Arrays.copyOf(good, extra)));
            judge("followed by zeros " + extra, concat(good, new byte[extra]));
        }
        judge("two batches", concat(good, good));
        judge("followed by a whole message of magic 1", concat(good, legacy((byte) 1, NONE)));
        for (int length : new int[] {-1, 0, 13, 14, 20, 48}) {
            judge("batch length " + length, edit(good, b -> b.putInt(8, length)));
        }
        for (int length : new int[] {14, 20, 48, 49}) {
            judge("cut to a batch length of " + length, edit(Arrays.copyOf(good, length + 12), b -> b.putInt(8, length)));
        }
        for (byte magic : new byte[] {-1, 0, 1, 3, 127}) judge("magic " + magic, edit(good, b -> b.put(16, magic)));
        judge("base offset 1", edit(good, b -> b.putLong(0, 1)));
        judge("base offset -1", edit(good, b -> b.putLong(0, -1)));
        judge("leader epoch 9", edit(good, b -> b.putInt(12, 9)));
        judge("bad crc", edit(good, b -> b.putInt(CRC_AT, b.getInt(CRC_AT) ^ 1)));
        judge("bad crc and base offset 1", edit(good, b -> b.putLong(0, 1).putInt(CRC_AT, 0)));
        judge("bad crc and too large", edit(good, b -> b.putInt(CRC_AT, 0)), Map.of("max.message.bytes", "80"));
        judge("bad crc and bad count", edit(good, b -> b.putInt(57, 0).putInt(CRC_AT, 0)));
    }

    private void headers() throws Exception {
        byte[] good = small(NONE);
        for (int count : new int[] {-1, 0, 2, 4, Integer.MAX_VALUE}) {
            judge("count " + count, sealed(good, b -> b.putInt(57, count)));
        }
        for (int delta : new int[] {-1, -2, 0, 1, 3, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            judge("last offset delta " + delta, sealed(good, b -> b.putInt(23, delta)));
        }
        judge("count and delta 3 and 4", sealed(good, b -> b.putInt(57, 4).putInt(23, 3)));
        judge("count and delta 1 and 2", sealed(good, b -> b.putInt(57, 2).putInt(23, 1)));
        for (int id = 1; id <= 7; id++) {
            int codec = id;
            judge("codec " + id + " without compressing", sealed(good, b -> b.putShort(ATTRIBUTES_AT, (short) codec)));
        }
        judge("control", sealed(good, b -> b.putShort(ATTRIBUTES_AT, (short) 0x20)));
        judge("log append time bit", sealed(good, b -> b.putShort(ATTRIBUTES_AT, (short) 0x08)));
        judge("log append time bit, topic log append time", sealed(good, b -> b.putShort(ATTRIBUTES_AT, (short) 0x08)),
            Map.of("message.timestamp.type", "LogAppendTime"));
        judge("delete horizon bit", sealed(good, b -> b.putShort(ATTRIBUTES_AT, (short) 0x40)));
        judge("unknown attribute bits", sealed(good, b -> b.putShort(ATTRIBUTES_AT, (short) 0x7f80)));
        judge("unknown attribute bits and wrong max timestamp",
            sealed(good, b -> b.putShort(ATTRIBUTES_AT, (short) 0x7fc0).putLong(35, 5)));
        for (int sequence : new int[] {-1, -2, 0, 5, Integer.MAX_VALUE}) {
            judge("producer 7 with sequence " + sequence,
                sealed(good, b -> b.putLong(43, 7).putShort(51, (short) 0).putInt(53, sequence)));
        }
        judge("producer -1 with sequence 5", sealed(good, b -> b.putInt(53, 5)));
        judge("producer -2 with sequence -1", sealed(good, b -> b.putLong(43, -2)));
        judge("max timestamp too low", sealed(good, b -> b.putLong(35, 0)));
        judge("max timestamp too high", sealed(good, b -> b.putLong(35, Long.MAX_VALUE)));
        judge("max timestamp -1", sealed(good, b -> b.putLong(35, -1)));
        for (CompressionType type : CompressionType.values()) {
            judge(type.name + " max timestamp wrong", sealed(small(type), b -> b.putLong(35, 1)));
        }
    }

    private void records() throws Exception {
        for (CompressionType type : CompressionType.values()) {
            byte[] plain = recordBytes(small(NONE));
            judge(type.name + " good", withRecords(type, plain, b -> { }));
            judge(type.name + " records cut by one", withRecords(type, Arrays.copyOf(plain, plain.length - 1), b -> { }));
            judge(type.name + " records cut to 5", withRecords(type, Arrays.copyOf(plain, 5), b -> { }));
            judge(type.name + " no records", withRecords(type, new byte[0], b -> { }));
            judge(type.name + " bytes after the records", withRecords(type, concat(plain, new byte[3]), b -> { }));
            judge(type.name + " one record less than counted", withRecords(type, plain, b -> b.putInt(57, 4).putInt(23, 3)));
            judge(type.name + " one record more than counted", withRecords(type, plain, b -> b.putInt(57, 2).putInt(23, 1)));
            byte[] gaps = concat(record(0, 0, "a", "b"), record(0, 2, "a", "b"), record(0, 5, "a", "b"));
            judge(type.name + " offset deltas 0 2 5", withRecords(type, gaps, b -> b.putLong(35, Fixtures.T0)));
            byte[] shifted = concat(record(4, 1, "a", "b"), record(9, 2, null, null), record(7, 3, "a", "b"));
            judge(type.name + " offset deltas 1 2 3", withRecords(type, shifted, b -> b.putLong(35, Fixtures.T0 + 9)));
            byte[] zeros = concat(record(0, 0, "a", "b"), record(0, 0, "a", "b"), record(0, 0, "a", "b"));
            judge(type.name + " offset deltas 0 0 0", withRecords(type, zeros, b -> b.putLong(35, Fixtures.T0)));
            judge(type.name + " null keys, compacted", varied(type), Map.of("cleanup.policy", "compact"));
            judge(type.name + " good keys, compacted", withRecords(type, plain, b -> { }), Map.of("cleanup.policy", "compact"));
        }
        judge("lz4 of linked blocks", linkedBlocks(small(CompressionType.LZ4)));
        byte[] good = recordBytes(small(NONE));
        int[] headerCounts = {-1, 1, 100, Integer.MAX_VALUE};
        for (int headers : headerCounts) {
            byte[] record = rawRecord(0, 0, varint(1), new byte[] {'a'}, varint(1), new byte[] {'b'}, varint(headers));
            judge("header count " + headers, one(record));
        }
        for (int length : new int[] {-2, -100, 2, 1000, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            byte[] key = rawRecord(0, 0, varint(length), new byte[] {'a'}, varint(1), new byte[] {'b'}, varint(0));
            judge("key length " + length + " over one byte", one(key));
            byte[] none = rawRecord(0, 0, varint(length), varint(1), new byte[] {'b'}, varint(0));
            judge("key length " + length + " over nothing", one(none));
            byte[] value = rawRecord(0, 0, varint(1), new byte[] {'a'}, varint(length), varint(0));
            judge("value length " + length + " over nothing", one(value));
            byte[] headerKey = rawRecord(0, 0, varint(-1), varint(-1), varint(1), varint(length), varint(-1));
            judge("header key length " + length, one(headerKey));
            byte[] headerValue = rawRecord(0, 0, varint(-1), varint(-1), varint(1), varint(0), varint(length));
            judge("header value length " + length, one(headerValue));
        }
        byte[] padded = {(byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, 0x70};
        judge("varint of five bytes with spare bits", one(rawRecord(0, 0, padded, varint(-1), varint(0))));
        byte[] tooLong = {(byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, (byte) 0x80, 0};
        judge("varint of six bytes", one(rawRecord(0, 0, tooLong, varint(-1), varint(0))));
        judge("record length of -1", one(concat(varint(-1), good)));
        judge("record attributes 7", one(concat(varint(7), new byte[] {7}, varlong(0), varint(0), varint(-1), varint(-1), varint(0))));
        for (long delta : new long[] {1, -1, 1L << 31, 1L << 40, -(1L << 40), 1L << 52, 1L << 53, Long.MAX_VALUE, Long.MIN_VALUE}) {
            judge("timestamp delta " + delta, one(rawRecord(delta, 0, varint(-1), varint(-1), varint(0))));
        }
    }

    private void settings() throws Exception {
        long hour = 3_600_000L;
        for (CompressionType type : new CompressionType[] {NONE, CompressionType.LZ4}) {
            for (long off : new long[] {0, hour, hour + 1, -hour, -hour - 1, 100 * hour}) {
                byte[] bytes = timestamped(type, Broker.NOW, Broker.NOW + off);
                judge(type.name + " timestamp now + " + off, bytes);
                judge(type.name + " timestamp now + " + off + ", before 1 h", bytes, Map.of("message.timestamp.before.max.ms", "" + hour));
                judge(type.name + " timestamp now + " + off + ", log append time", bytes, Map.of("message.timestamp.type", "LogAppendTime"));
            }
            judge(type.name + " no timestamps", timestamped(type, -1L, -1L), Map.of("message.timestamp.before.max.ms", "1"));
            judge(type.name + " null key and bad timestamp", timestamped(type, Broker.NOW, Broker.NOW + 2 * hour), Map.of("cleanup.policy", "compact"));
        }
        for (CompressionType type : CompressionType.values()) {
            byte[] bytes = varied(type);
            for (String target : new String[] {"uncompressed", "gzip", "snappy", "lz4", "zstd"}) {
                judge(type.name + " to " + target, bytes, Map.of("compression.type", target));
            }
            judge(type.name + " to gzip on a log append time topic", bytes,
                Map.of("compression.type", "gzip", "message.timestamp.type", "LogAppendTime"));
            judge(type.name + " log append time topic", bytes, Map.of("message.timestamp.type", "LogAppendTime"));
            judge(type.name + " at the size limit", bytes, Map.of("max.message.bytes", "" + bytes.length));
            judge(type.name + " over the size limit", bytes, Map.of("max.message.bytes", "" + (bytes.length - 1)));
        }
        byte[] large = Fixtures.bytes(GoldenBatches.build((byte) 2, CompressionType.GZIP, TimestampType.CREATE_TIME, 0, Fixtures.large()));
        judge("too large once uncompressed", large, Map.of("compression.type", "uncompressed", "max.message.bytes", "20000"));
        for (int version : new int[] {0, 2, 3, 6, 7, 13}) {
            judge("zstd in version " + version, version, small(CompressionType.ZSTD), Map.of());
            judge("v2 in version " + version, version, small(NONE), Map.of());
        }
        judge("idempotent", sealed(small(NONE), b -> b.putLong(43, 7).putShort(51, (short) 3).putInt(53, 11)));
    }

    private void messageSets() throws Exception {
        for (byte magic = 0; magic <= 1; magic++) {
            byte m = magic;
            String name = "magic " + magic + " ";
            judge(name + "in version 3", 3, legacy(m, NONE), Map.of());
            for (CompressionType type : new CompressionType[] {NONE, CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4}) {
                byte[] set = legacy(m, type);
                judge(name + type.name, 2, set, Map.of());
                judge(name + type.name + " to uncompressed", 2, set, Map.of("compression.type", "uncompressed"));
                judge(name + type.name + " log append time topic", 2, set, Map.of("message.timestamp.type", "LogAppendTime"));
                judge(name + type.name + " compacted", 2, set, Map.of("cleanup.policy", "compact"));
                judge(name + type.name + " cut", 2, Arrays.copyOf(set, set.length - 3), Map.of());
                judge(name + type.name + " bad crc", 2, edit(set, b -> b.put(set.length - 1, (byte) (b.get(set.length - 1) ^ 1))), Map.of());
                judge(name + type.name + " twice", 2, concat(set, set), Map.of());
                judge(name + type.name + " at 1000", 2, Fixtures.bytes(GoldenBatches.build(m, type, TimestampType.CREATE_TIME, 1000, Fixtures.plain())), Map.of());
                judge(name + type.name + " over the size limit", 2, set, Map.of("max.message.bytes", "40"));
            }
            judge(name + "empty", 2, new byte[0], Map.of());
            judge(name + "then v2", 2, concat(legacy(m, NONE), small(NONE)), Map.of());
            judge(name + "then the other magic", 2, concat(legacy(m, NONE), legacy((byte) (1 - m), NONE)), Map.of());
            judge(name + "length 13", 2, edit(legacy(m, NONE), b -> b.putInt(8, 13)), Map.of());
        }
        judge("magic 1 log append time", 2, Fixtures.bytes(GoldenBatches.build((byte) 1, NONE, TimestampType.LOG_APPEND_TIME, 0, Fixtures.plain())),
            Map.of("message.timestamp.type", "LogAppendTime"));
        judge("magic 1 timestamps out of range", 2, Fixtures.bytes(GoldenBatches.build((byte) 1, NONE, TimestampType.CREATE_TIME, 0,
            List.of(new SimpleRecord(Broker.NOW + 7_200_000L, null, Fixtures.utf8("x"))))), Map.of());
    }

    /** One to three changed, missing or added bytes among the records, in a batch whose lengths and CRC fit again. */
    private void damage() throws Exception {
        Random random = new Random(20240229);
        byte[] plain = recordBytes(varied(NONE));
        for (int i = 0; i < 500; i++) {
            CompressionType type = i % 5 == 0 ? CompressionType.values()[(i / 5) % 5] : NONE;
            byte[] damaged = damage(plain, random, 1 + random.nextInt(3));
            judge("damage " + i + " of records in " + type.name, withRecords(type, damaged, b -> counts(b, 6)));
        }
        for (int i = 0; i < 100; i++) {
            CompressionType type = CompressionType.values()[1 + i % 4];
            byte[] damaged = damage(recordBytes(varied(type)), random, 1);
            judge("damage " + i + " of " + type.name + " bytes", packed(type, damaged, b -> counts(b, 6)));
        }
    }

    /** The header of six varied records. */
    static void counts(ByteBuffer batch, int count) {
        batch.putInt(57, count).putInt(23, count - 1).putLong(35, Fixtures.T0 + 70_000);
    }

    private static byte[] damage(byte[] bytes, Random random, int times) {
        byte[] damaged = bytes.clone();
        for (int i = 0; i < times; i++) {
            int at = random.nextInt(damaged.length);
            switch (random.nextInt(6)) {
                case 0 -> damaged = concat(Arrays.copyOf(damaged, at), Arrays.copyOfRange(damaged, at + 1, damaged.length));
                case 1 -> damaged = concat(Arrays.copyOf(damaged, at), new byte[] {(byte) random.nextInt()}, Arrays.copyOfRange(damaged, at, damaged.length));
                case 2 -> damaged[at] = (byte) random.nextInt();
                default -> damaged[at] ^= (byte) (1 << random.nextInt(8));
            }
        }
        return damaged;
    }

    /** The only block of a frame refers to nothing before it, so the same frame may say that it could. */
    private static byte[] linkedBlocks(byte[] batch) {
        return sealed(batch, b -> {
            b.put(RECORDS_AT + 4, (byte) (b.get(RECORDS_AT + 4) & ~0x20));
            int hash = XXHashFactory.fastestInstance().hash32().hash(b.array(), RECORDS_AT + 4, 2, 0);
            b.put(RECORDS_AT + 6, (byte) (hash >> 8));
        });
    }

    /** Three records with keys, now. */
    private static byte[] small(CompressionType type) {
        return timestamped(type, Fixtures.T0, Fixtures.T0 + 1, Fixtures.T0 + 2);
    }

    private static byte[] timestamped(CompressionType type, long... timestamps) {
        List<SimpleRecord> records = new ArrayList<>();
        boolean keyed = timestamps.length == 3;
        for (int i = 0; i < timestamps.length; i++) {
            records.add(new SimpleRecord(timestamps[i], keyed ? Fixtures.utf8("key-" + i) : null, Fixtures.utf8("value-" + i)));
        }
        return Fixtures.bytes(GoldenBatches.build((byte) 2, type, TimestampType.CREATE_TIME, 0, records));
    }

    private static byte[] varied(CompressionType type) {
        return Fixtures.bytes(GoldenBatches.build((byte) 2, type, TimestampType.CREATE_TIME, 0, Fixtures.varied()));
    }

    private static byte[] legacy(byte magic, CompressionType type) {
        return Fixtures.bytes(GoldenBatches.build(magic, type, TimestampType.CREATE_TIME, 0, Fixtures.plain()));
    }

    static byte[] recordBytes(byte[] batch) {
        return Arrays.copyOfRange(batch, RECORDS_AT, batch.length);
    }

    private static byte[] one(byte[] record) throws Exception {
        return withRecords(NONE, record, b -> b.putInt(57, 1).putInt(23, 0).putLong(35, Fixtures.T0));
    }

    /** A batch of three whose records are these bytes, compressed. */
    private static byte[] withRecords(CompressionType type, byte[] records, Consumer<ByteBuffer> edit) throws Exception {
        ByteBufferOutputStream out = new ByteBufferOutputStream(1024);
        try (var stream = Fixtures.compression(type).wrapForOutput(out, (byte) 2)) {
            stream.write(records);
        }
        ByteBuffer compressed = out.buffer();
        compressed.flip();
        return packed(type, Fixtures.bytes(compressed), edit);
    }

    /** A batch of three whose records are these bytes as they are. */
    static byte[] packed(CompressionType type, byte[] records, Consumer<ByteBuffer> edit) {
        byte[] header = Arrays.copyOf(small(NONE), RECORDS_AT);
        return sealed(concat(header, records), b -> {
            b.putInt(8, b.capacity() - 12).putShort(ATTRIBUTES_AT, (short) type.id);
            edit.accept(b);
        });
    }

    private static byte[] record(long timestampDelta, int offsetDelta, String key, String value) {
        byte[] k = key == null ? new byte[0] : Fixtures.utf8(key);
        byte[] v = value == null ? new byte[0] : Fixtures.utf8(value);
        return rawRecord(timestampDelta, offsetDelta, varint(key == null ? -1 : k.length), k,
            varint(value == null ? -1 : v.length), v, varint(0));
    }

    private static byte[] rawRecord(long timestampDelta, int offsetDelta, byte[]... rest) {
        byte[] body = concat(new byte[1], varlong(timestampDelta), varint(offsetDelta), concat(rest));
        return concat(varint(body.length), body);
    }

    private static byte[] varint(int value) {
        return unsigned(Integer.toUnsignedLong((value << 1) ^ (value >> 31)));
    }

    private static byte[] varlong(long value) {
        return unsigned((value << 1) ^ (value >> 63));
    }

    private static byte[] unsigned(long value) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        while ((value & ~0x7fL) != 0) {
            out.write((int) (value & 0x7f | 0x80));
            value >>>= 7;
        }
        out.write((int) value);
        return out.toByteArray();
    }

    private static byte[] edit(byte[] bytes, Consumer<ByteBuffer> edit) {
        byte[] copy = bytes.clone();
        edit.accept(ByteBuffer.wrap(copy));
        return copy;
    }

    /** Edits and makes the CRC right again. */
    private static byte[] sealed(byte[] batch, Consumer<ByteBuffer> edit) {
        byte[] copy = edit(batch, edit);
        ByteBuffer buffer = ByteBuffer.wrap(copy);
        buffer.putInt(CRC_AT, (int) Crc32C.compute(buffer, ATTRIBUTES_AT, copy.length - ATTRIBUTES_AT));
        return copy;
    }

    private static byte[] concat(byte[]... parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (byte[] part : parts) out.writeBytes(part);
        return out.toByteArray();
    }

    private void judge(String name, byte[] bytes) throws Exception {
        judge(name, 9, bytes, Map.of());
    }

    private void judge(String name, byte[] bytes, Map<String, String> config) throws Exception {
        judge(name, 9, bytes, config);
    }

    private void judge(String name, int version, byte[] bytes, Map<String, String> config) throws Exception {
        ObjectNode entry = Fixtures.JSON.createObjectNode();
        entry.put("name", name);
        entry.put("version", version);
        ObjectNode settings = entry.putObject("config");
        new TreeMap<>(config).forEach(settings::put);
        entry.put("bytes", Fixtures.base64(bytes));
        broker.judge((short) version, bytes.clone(), config, entry);
        entries.add(entry);
    }
}

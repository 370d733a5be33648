import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** Records to put into batches, and batches as JSON. */
final class Fixtures {
    static final ObjectMapper JSON = new ObjectMapper();
    static final long T0 = 1_700_000_000_000L;

    private Fixtures() {}

    static Compression compression(CompressionType type) {
        return Compression.of(type).build();
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Null and empty keys and values, headers with and without values, timestamps that go back. */
    static List<SimpleRecord> varied() {
        List<SimpleRecord> records = new ArrayList<>();
        records.add(new SimpleRecord(T0, utf8("key-0"), utf8("value-0")));
        records.add(new SimpleRecord(T0 + 70_000, null, utf8("no key")));
        records.add(new SimpleRecord(T0 - 5, utf8("no value"), (byte[]) null));
        records.add(new SimpleRecord(T0 + 1, null, (byte[]) null));
        records.add(new SimpleRecord(T0 + 2, new byte[0], new byte[0]));
        records.add(new SimpleRecord(T0 + 3, utf8("k"), utf8("v"), new Header[] {
            new RecordHeader("trace", utf8("abc")),
            new RecordHeader("empty", new byte[0]),
            new RecordHeader("null", null),
            new RecordHeader("", utf8("no name")),
            new RecordHeader("schlüssel-\u4e16\u754c", utf8("\ud83d\ude00")),
        }));
        return records;
    }

    /** Without headers, which magic 0 and 1 have no place for. */
    static List<SimpleRecord> plain() {
        return varied().subList(0, 5);
    }

    /** More than 64 KiB that compresses well: several blocks of every framing. */
    static List<SimpleRecord> large() {
        List<SimpleRecord> records = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            String value = ("{\"id\":" + i + ",\"text\":\"the quick brown fox\"} ").repeat(18);
            records.add(new SimpleRecord(T0 + i, utf8("key-" + i), utf8(value)));
        }
        return records;
    }

    /** Does not compress: LZ4 stores the block as it is. */
    static List<SimpleRecord> random() {
        byte[] value = new byte[3000];
        new Random(7).nextBytes(value);
        return List.of(new SimpleRecord(T0, null, value));
    }

    static byte[] bytes(MemoryRecords records) {
        return bytes(records.buffer());
    }

    static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    static String base64(ByteBuffer buffer) {
        return buffer == null ? null : base64(bytes(buffer));
    }

    /** What Java reads in it. */
    static ObjectNode describe(String name, byte[] bytes) {
        ObjectNode node = JSON.createObjectNode();
        node.put("name", name);
        node.put("bytes", base64(bytes));
        ArrayNode batches = node.putArray("batches");
        for (RecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches()) {
            batch.ensureValid();
            batches.add(header(batch));
        }
        ArrayNode records = records(bytes);
        // The text of many records is noted as its hash.
        if (records.size() <= 20) node.set("records", records);
        else node.put("recordsSha256", sha256(records.toString()));
        return node;
    }

    private static String sha256(String text) {
        try {
            return base64(MessageDigest.getInstance("SHA-256").digest(utf8(text)));
        } catch (NoSuchAlgorithmException error) {
            throw new IllegalStateException(error);
        }
    }

    static ObjectNode header(RecordBatch batch) {
        ObjectNode node = JSON.createObjectNode();
        node.put("magic", batch.magic());
        node.put("sizeInBytes", batch.sizeInBytes());
        node.put("baseOffset", batch.baseOffset());
        node.put("lastOffset", batch.lastOffset());
        node.put("compressionType", batch.compressionType().name);
        node.put("timestampType", batch.timestampType().name);
        node.put("maxTimestamp", batch.maxTimestamp());
        node.put("producerId", batch.producerId());
        node.put("producerEpoch", batch.producerEpoch());
        node.put("baseSequence", batch.baseSequence());
        node.put("lastSequence", batch.lastSequence());
        node.put("isTransactional", batch.isTransactional());
        node.put("isControl", batch.isControlBatch());
        node.put("hasDeleteHorizon", batch.deleteHorizonMs().isPresent());
        node.put("partitionLeaderEpoch", batch.partitionLeaderEpoch());
        node.put("crc", batch.checksum());
        node.put("count", batch.countOrNull());
        return node;
    }

    static ArrayNode records(byte[] bytes) {
        ArrayNode array = JSON.createArrayNode();
        for (Record record : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).records()) {
            ObjectNode node = array.addObject();
            node.put("offset", record.offset());
            node.put("timestamp", record.timestamp());
            node.put("key", base64(record.key()));
            node.put("value", base64(record.value()));
            ArrayNode headers = node.putArray("headers");
            for (Header header : record.headers()) {
                ObjectNode headerNode = headers.addObject();
                headerNode.put("key", base64(utf8(header.key())));
                headerNode.put("value", header.value() == null ? null : base64(header.value()));
            }
        }
        return array;
    }

    /** One entry a line, so that a changed one shows in a diff. */
    static void write(Path path, List<ObjectNode> entries) throws Exception {
        List<String> lines = new ArrayList<>();
        for (ObjectNode entry : entries) lines.add(JSON.writeValueAsString(entry));
        Files.writeString(path, "[\n" + String.join(",\n", lines) + "\n]\n");
        System.out.println(path + ": " + entries.size());
    }
}

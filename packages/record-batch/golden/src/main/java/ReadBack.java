import com.fasterxml.jackson.databind.JsonNode;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Base64;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.RecordBatch;

/** Reads the batches of written.json with Kafka's classes and compares the records with those noted beside them. */
final class ReadBack {
    private ReadBack() {}

    static void check(Path directory) throws Exception {
        JsonNode entries = Fixtures.JSON.readTree(directory.resolve("written.json").toFile());
        int failures = 0;
        for (JsonNode entry : entries) {
            String name = entry.get("name").asText();
            try {
                byte[] bytes = Base64.getDecoder().decode(entry.get("bytes").asText());
                for (RecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(bytes)).batches()) batch.ensureValid();
                // Through text, so that integers compare whatever width Jackson gave them.
                String read = Fixtures.records(bytes).toString();
                String expected = entry.get("records").toString();
                if (!read.equals(expected)) {
                    throw new IllegalStateException("read " + read + "\nexpected " + expected);
                }
            } catch (Exception error) {
                failures++;
                System.out.println("FAILED " + name + ": " + error);
            }
        }
        System.out.println(entries.size() + " batches read by Kafka's classes, " + failures + " failures");
        if (failures > 0 || entries.isEmpty()) System.exit(1);
    }
}

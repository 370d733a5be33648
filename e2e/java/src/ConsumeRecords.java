import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads partition 0 of each topic from offset 0, by assign and seek, so that no consumer group is needed.
 * Prints a JSON object a record, with base64 bytes. Arguments: bootstrap, then topic=count.
 */
public class ConsumeRecords {
    private static final long PATIENCE_MS = 30_000;

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[0]);
        properties.put("auto.offset.reset", "none");
        properties.put("enable.auto.commit", "false");
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 20), false);
        try (var consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            Map<TopicPartition, Integer> left = new HashMap<>();
            for (int i = 1; i < args.length; i++) {
                String[] pair = args[i].split("=");
                left.put(new TopicPartition(pair[0], 0), Integer.parseInt(pair[1]));
            }
            consumer.assign(left.keySet());
            for (TopicPartition partition : left.keySet()) consumer.seek(partition, 0);
            long deadline = System.currentTimeMillis() + PATIENCE_MS;
            while (!left.isEmpty()) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
                    out.println(render(record));
                    left.computeIfPresent(
                        new TopicPartition(record.topic(), record.partition()), (key, count) -> count > 1 ? count - 1 : null);
                }
                if (System.currentTimeMillis() > deadline) throw new IllegalStateException("did not come: " + left);
            }
        }
        out.flush();
    }

    private static final ObjectMapper JSON = new ObjectMapper();

    private static String render(ConsumerRecord<byte[], byte[]> record) throws Exception {
        ObjectNode node = JSON.createObjectNode();
        node.put("topic", record.topic());
        node.put("offset", record.offset());
        node.put("timestamp", record.timestamp());
        node.put("key", base64(record.key()));
        node.put("value", base64(record.value()));
        ArrayNode headers = node.putArray("headers");
        for (Header header : record.headers()) headers.addArray().add(header.key()).add(base64(header.value()));
        return JSON.writeValueAsString(node);
    }

    private static String base64(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }
}

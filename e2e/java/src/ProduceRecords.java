import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes the records of stdin, one JSON object a line with base64 bytes, to one topic; prints the offset of each.
 * Arguments: topic, then producer properties as name=value.
 */
public class ProduceRecords {
    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        for (int i = 1; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            properties.put(pair[0], pair[1]);
        }
        ObjectMapper json = new ObjectMapper();
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode node = json.readTree(line);
                var record = new ProducerRecord<>(args[0], 0, bytes(node.get("key")), bytes(node.get("value")));
                for (JsonNode header : node.get("headers")) {
                    record.headers().add(new RecordHeader(header.get(0).asText(), bytes(header.get(1))));
                }
                sent.add(producer.send(record));
            }
            producer.flush();
            for (Future<RecordMetadata> each : sent) System.out.println(each.get().offset());
        }
    }

    private static byte[] bytes(JsonNode node) {
        return node.isNull() ? null : Base64.getDecoder().decode(node.asText());
    }
}

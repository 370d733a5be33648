import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes the batches of stdin, one a line: {"topic", "records": [{"key", "value"}]} with base64 bytes, one after the other and all by one
 * producer; prints what became of each record, a line a batch: [{"offset"} or {"error", "message"}].
 * Arguments: producer properties as name=value. The time to linger should be long: a line is to be one batch.
 */
public class ProduceOutcomes {
    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        for (String arg : args) {
            String[] pair = arg.split("=", 2);
            properties.put(pair[0], pair[1]);
        }
        ObjectMapper json = new ObjectMapper();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                JsonNode batch = json.readTree(line);
                String topic = batch.get("topic").asText();
                producer.partitionsFor(topic); // so that no record waits for it, and all are in one batch
                List<Future<RecordMetadata>> sent = new ArrayList<>();
                for (JsonNode record : batch.get("records")) {
                    sent.add(producer.send(new ProducerRecord<>(topic, 0, bytes(record.get("key")), bytes(record.get("value")))));
                }
                producer.flush();
                ArrayNode outcomes = json.createArrayNode();
                for (Future<RecordMetadata> each : sent) outcomes.add(outcome(json, each));
                System.out.println(json.writeValueAsString(outcomes));
            }
        }
    }

    private static ObjectNode outcome(ObjectMapper json, Future<RecordMetadata> sent) throws InterruptedException {
        ObjectNode outcome = json.createObjectNode();
        try {
            return outcome.put("offset", sent.get().offset());
        } catch (ExecutionException failure) {
            Throwable cause = failure.getCause();
            return outcome.put("error", cause.getClass().getSimpleName()).put("message", cause.getMessage());
        }
    }

    private static byte[] bytes(JsonNode node) {
        return node == null || node.isNull() ? null : Base64.getDecoder().decode(node.asText());
    }
}

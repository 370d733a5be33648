import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Writes the lines of standard input to the partitions of a topic in turn, so many a second, each exactly once: idempotent, and
 * fails unless every one was acknowledged. Arguments: bootstrap, topic, lines a second.
 */
public class WriteLines {
  public static void main(String[] args) throws Exception {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", args[0]);
    properties.put("reconnect.backoff.max.ms", "200");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    try (var producer = new KafkaProducer<>(properties, new StringSerializer(), new StringSerializer())) {
      int partitions = producer.partitionsFor(args[1]).size();
      long startMs = System.currentTimeMillis();
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        long waitMs = startMs + sent.size() * 1000L / Integer.parseInt(args[2]) - System.currentTimeMillis();
        if (waitMs > 0) Thread.sleep(waitMs);
        sent.add(producer.send(new ProducerRecord<>(args[1], sent.size() % partitions, null, line)));
      }
      producer.flush();
      for (Future<RecordMetadata> each : sent) each.get();
    }
  }
}

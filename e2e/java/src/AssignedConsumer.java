import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * As Kafka's ConsumerPerformance, with its defaults, but by assign and seek: for brokers without consumer groups.
 * Arguments: bootstrap, topic, records. Prints bytes, records and milliseconds from the first poll on.
 */
public class AssignedConsumer {
    public static void main(String[] args) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[0]);
        properties.put("receive.buffer.bytes", 2 * 1024 * 1024);
        properties.put("max.partition.fetch.bytes", 1024 * 1024);
        properties.put("auto.offset.reset", "earliest");
        properties.put("enable.auto.commit", "false");
        properties.put("check.crcs", "false");
        long wanted = Long.parseLong(args[2]);
        try (var consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            TopicPartition partition = new TopicPartition(args[1], 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long records = 0;
            long bytes = 0;
            long from = System.nanoTime();
            long last = from;
            while (records < wanted) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    last = System.nanoTime();
                    records++;
                    bytes += record.value() == null ? 0 : record.value().length;
                }
                if (System.nanoTime() - last > 10_000_000_000L) {
                    throw new IllegalStateException("only " + records + " of " + wanted + " records came");
                }
            }
            System.out.println(bytes + " " + records + " " + (System.nanoTime() - from) / 1_000_000.0);
        }
    }
}

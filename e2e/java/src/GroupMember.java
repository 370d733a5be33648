import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A member of a consumer group, which commits by itself, until SIGTERM: then it commits and closes. Prints a JSON object
 * a line, as e2e/src/groups/member-report.ts reads it. Arguments: topic, then name=value properties of the consumer.
 */
public class GroupMember {
    public static void main(String[] args) {
        Properties properties = new Properties();
        for (int i = 1; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            properties.put(pair[0], pair[1]);
        }
        properties.put("interceptor.classes", CommitReporter.class.getName());
        var consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try {
                main.join();
            } catch (InterruptedException ignored) {
                Thread.currentThread().interrupt(); // the machine is going down; there is nobody left to tell
            }
        }));
        try (consumer) {
            consumer.subscribe(List.of(args[0]), new OwnershipReporter(consumer));
            while (true) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
                    String value = new String(record.value(), StandardCharsets.ISO_8859_1);
                    say("processed", "\"partition\":%d,\"offset\":%d,\"value\":\"%s\"", record.partition(), record.offset(), value);
                }
            }
        } catch (WakeupException stopped) {
            System.out.flush();
        }
    }

    private static void say(String kind, String format, Object... more) {
        System.out.println("{\"atMs\":" + System.currentTimeMillis() + ",\"kind\":\"" + kind + "\"," + String.format(format, more) + "}");
    }

    private static String list(Collection<TopicPartition> partitions) {
        return partitions.stream().map(each -> "" + each.partition()).collect(Collectors.joining(",", "[", "]"));
    }

    private record OwnershipReporter(KafkaConsumer<?, ?> consumer) implements ConsumerRebalanceListener {
        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> more) {
            int generationId = consumer.groupMetadata().generationId();
            say("owns", "\"generationId\":%d,\"partitions\":%s", generationId, list(consumer.assignment()));
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            say("gaveUp", "\"partitions\":%s", list(partitions));
        }
    }

    /** The only way to hear of the commits that the client makes by itself. */
    public static class CommitReporter implements ConsumerInterceptor<byte[], byte[]> {
        @Override
        public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {
            String pairs = offsets.entrySet().stream()
                .map(each -> "[" + each.getKey().partition() + "," + each.getValue().offset() + "]")
                .collect(Collectors.joining(",", "[", "]"));
            say("committed", "\"offsets\":%s", pairs);
        }

        @Override
        public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
            return records;
        }

        @Override
        public void configure(Map<String, ?> settings) {}

        @Override
        public void close() {}
    }
}

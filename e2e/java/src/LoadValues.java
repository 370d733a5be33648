import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes the values of a file, one a line in base64, over and over, as fast as it goes; prints how many of their bytes were acknowledged,
 * and how long that took, without the first fifth, in which the JVM compiles.
 * Arguments: topic, file, number of records, then producer properties as name=value.
 */
public class LoadValues {
    public static void main(String[] args) throws Exception {
        List<byte[]> values = Files.readAllLines(Path.of(args[1])).stream().map(Base64.getDecoder()::decode).toList();
        long records = Long.parseLong(args[2]);
        Properties properties = new Properties();
        for (int i = 3; i < args.length; i++) {
            String[] pair = args[i].split("=", 2);
            properties.put(pair[0], pair[1]);
        }
        AtomicReference<Exception> failure = new AtomicReference<>();
        try (var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            write(producer, args[0], values, records / 5, failure);
            long from = System.nanoTime();
            long bytes = write(producer, args[0], values, records, failure);
            long took = System.nanoTime() - from;
            if (failure.get() != null) throw failure.get();
            System.out.println(bytes + " bytes in " + took / 1_000_000 + " ms");
        }
    }

    private static long write(KafkaProducer<byte[], byte[]> producer, String topic, List<byte[]> values, long records,
            AtomicReference<Exception> failure) {
        long bytes = 0;
        for (long i = 0; i < records; i++) {
            byte[] value = values.get((int) (i % values.size()));
            producer.send(new ProducerRecord<>(topic, 0, null, value), (metadata, error) -> {
                if (error != null) failure.compareAndSet(null, error);
            });
            bytes += value.length;
        }
        producer.flush();
        return bytes;
    }
}

import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.concurrent.Semaphore;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * An idempotent producer with the client's defaults, until SIGTERM: then it flushes. The partitions take turns; records
 * of each are numbered from 0. Prints a line for each record, "acknowledged PARTITION NUMBER OFFSET" or
 * "failed PARTITION NUMBER why", and at the end for each partition "sent PARTITION COUNT".
 * Arguments: bootstrap, topic, name, partitions, milliseconds between 20 records and the next. Values as in e2e/src/durability/history.ts, by "name-partition".
 */
public class IdempotentLoad {
    private static volatile boolean stopping = false;

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", args[0]);
        properties.put("reconnect.backoff.max.ms", "200");
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stopping = true;
            try {
                main.join();
            } catch (InterruptedException ignored) {
                Thread.currentThread().interrupt(); // the machine is going down; there is nobody left to tell
            }
        }));
        Semaphore room = new Semaphore(1000);
        int partitions = Integer.parseInt(args[3]);
        long pauseMs = Long.parseLong(args[4]);
        int sent = 0;
        try (var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            System.out.println("started");
            for (; !stopping; sent++) {
                if (sent % 20 == 0) Thread.sleep(pauseMs);
                int partition = sent % partitions;
                int number = sent / partitions;
                byte[] value = value(args[2] + "-" + partition, number);
                room.acquire();
                producer.send(new ProducerRecord<>(args[1], partition, null, value), (metadata, failure) -> {
                    room.release();
                    String which = partition + " " + number + " ";
                    if (failure == null) System.out.println("acknowledged " + which + metadata.offset());
                    else System.out.println("failed " + which + failure);
                });
            }
        }
        for (int partition = 0; partition < partitions; partition++) {
            System.out.println("sent " + partition + " " + (sent + partitions - 1 - partition) / partitions);
        }
        System.out.flush();
    }

    private static byte[] value(String name, int number) {
        String padding = String.valueOf((char) ('a' + number % 26)).repeat((int) ((long) number * 7919 % 2000));
        return (name + ":" + number + ":" + padding).getBytes(StandardCharsets.ISO_8859_1);
    }
}

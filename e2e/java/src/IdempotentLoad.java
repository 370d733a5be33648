import java.nio.charset.StandardCharsets;
import java.util.Properties;
import java.util.concurrent.Semaphore;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * An idempotent producer with the client's defaults, until SIGTERM: then it flushes. Prints a line for each record,
 * "acknowledged NUMBER OFFSET" or "failed NUMBER why", and at the end "sent COUNT".
 * Arguments: bootstrap, topic, name. Values as in e2e/src/durability/history.ts.
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
        int number = 0;
        try (var producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            System.out.println("started");
            for (; !stopping; number++) {
                if (number % 20 == 0) Thread.sleep(2);
                int mine = number;
                room.acquire();
                producer.send(new ProducerRecord<>(args[1], 0, null, value(args[2], number)), (metadata, failure) -> {
                    room.release();
                    if (failure == null) System.out.println("acknowledged " + mine + " " + metadata.offset());
                    else System.out.println("failed " + mine + " " + failure);
                });
            }
        }
        System.out.println("sent " + number);
        System.out.flush();
    }

    private static byte[] value(String name, int number) {
        String padding = String.valueOf((char) ('a' + number % 26)).repeat((int) ((long) number * 7919 % 2000));
        return (name + ":" + number + ":" + padding).getBytes(StandardCharsets.ISO_8859_1);
    }
}

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.tools.ProducerPerformance;

/**
 * Several of Kafka's ProducerPerformance at once, a thread each: sixteen JVMs would measure the machine's memory.
 * Arguments: the number of producers, then those of ProducerPerformance, whose --num-records is for each.
 * Prints how long all took together, from the first start to the last end.
 */
public class ProducerFleet {
    public static void main(String[] args) throws Exception {
        int producers = Integer.parseInt(args[0]);
        String[] each = Arrays.copyOfRange(args, 1, args.length);
        PrintStream out = System.out;
        System.setOut(new PrintStream(new ByteArrayOutputStream())); // the producers' own reports
        CountDownLatch start = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = new ArrayList<>();
        for (int i = 0; i < producers; i++) {
            Thread thread = new Thread(() -> {
                try {
                    start.await();
                    ProducerPerformance.main(each);
                } catch (Throwable failure) {
                    synchronized (failures) {
                        failures.add(failure);
                    }
                }
            });
            thread.start();
            threads.add(thread);
        }
        long from = System.nanoTime();
        start.countDown();
        for (Thread thread : threads) thread.join();
        long took = System.nanoTime() - from;
        if (!failures.isEmpty()) throw new IllegalStateException(failures.get(0));
        out.println("fleet took " + took / 1_000_000 + " ms");
        System.exit(0);
    }
}

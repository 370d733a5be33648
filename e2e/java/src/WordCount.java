import java.math.BigInteger;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Counts words with Kafka Streams, at least once, until SIGTERM. A line of the topic "lines" is words, each with how often it was
 * written before: "fox#17 dog#3". They go by word through a repartition topic into two stores, each with a changelog:
 * "counts" keeps how often a word was processed, so a word that is processed twice counts twice; "numbers" keeps the set of numbers
 * seen of it, as the bits of a number in hexadecimal, and to process a word twice changes nothing there.
 * Every change of a store is written to the topic "counts" or "numbers".
 * Prints "state STATE" and "restored STORE PARTITION RECORDS". Arguments: Streams properties as name=value.
 */
public class WordCount {
  public static void main(String[] args) {
    Properties properties = new Properties();
    for (String arg : args) properties.put(arg.substring(0, arg.indexOf('=')), arg.substring(arg.indexOf('=') + 1));
    KafkaStreams streams = new KafkaStreams(topology(), properties);
    streams.setStateListener((state, before) -> System.out.println("state " + state));
    streams.setGlobalStateRestoreListener(new PrintedRestores());
    streams.setUncaughtExceptionHandler(failure -> {
      failure.printStackTrace();
      return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
    });
    Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
    streams.start();
  }

  static Topology topology() {
    Serde<String> strings = Serdes.String();
    Serde<BigInteger> hex = Serdes.serdeFrom(
        (topic, set) -> strings.serializer().serialize(topic, set.toString(16)),
        (topic, bytes) -> new BigInteger(strings.deserializer().deserialize(topic, bytes), 16));
    StreamsBuilder builder = new StreamsBuilder();
    KGroupedStream<String, Integer> byWord = builder.stream("lines", Consumed.with(Serdes.Bytes(), strings))
        .flatMap((key, line) -> Arrays.stream(line.split(" ")).map(WordCount::word).toList())
        .repartition(Repartitioned.<String, Integer>as("words").withKeySerde(strings).withValueSerde(Serdes.Integer()))
        .groupByKey(Grouped.with(strings, Serdes.Integer()));
    byWord.count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts").withKeySerde(strings))
        .toStream().mapValues(String::valueOf).to("counts", Produced.with(strings, strings));
    byWord.aggregate(() -> BigInteger.ZERO, (word, number, seen) -> seen.setBit(number),
            Materialized.<String, BigInteger, KeyValueStore<Bytes, byte[]>>as("numbers").withKeySerde(strings).withValueSerde(hex))
        .toStream().to("numbers", Produced.with(strings, hex));
    return builder.build();
  }

  static KeyValue<String, Integer> word(String numbered) {
    int at = numbered.indexOf('#');
    return KeyValue.pair(numbered.substring(0, at), Integer.parseInt(numbered.substring(at + 1)));
  }

  static class PrintedRestores implements StateRestoreListener {
    public void onRestoreStart(TopicPartition partition, String store, long from, long to) {
    }

    public void onBatchRestored(TopicPartition partition, String store, long last, long records) {
    }

    public void onRestoreEnd(TopicPartition partition, String store, long records) {
      System.out.println("restored " + store + " " + partition.partition() + " " + records);
    }
  }
}

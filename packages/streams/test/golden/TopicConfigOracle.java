import java.util.*;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.storage.internals.log.LogConfig;

/**
 * Prints what Kafka's own LogConfig says of topic settings: keys, types, defaults, and which sample values each key takes.
 *
 *   javac -cp 'e2e/.cache/java/lib/*' -d /tmp TopicConfigOracle.java
 *   java -cp 'e2e/.cache/java/lib/*:/tmp' TopicConfigOracle > topic-config.json
 */
public class TopicConfigOracle {
  public static void main(String[] args) {
    List<String> keys = new ArrayList<>();
    List<String> accepted = new ArrayList<>();
    for (String name : LogConfig.nonInternalConfigNames()) {
      ConfigDef.ConfigKey key = LogConfig.configKeys().get(name);
      String initial = ConfigDef.convertToString(key.defaultValue, key.type);
      keys.add("    [" + quote(name) + ", " + quote(key.type.name().toLowerCase()) + ", " + quote(initial) + "]");
      List<String> good = new ArrayList<>();
      for (String sample : SAMPLES) if (accepts(name, sample)) good.add(quote(sample));
      accepted.add("    " + quote(name) + ": [" + String.join(", ", good) + "]");
    }
    List<String> samples = new ArrayList<>();
    for (String sample : SAMPLES) samples.add(quote(sample));
    System.out.println("{\n  \"source\": \"kafka-storage 4.4.0, LogConfig, by TopicConfigOracle.java\",");
    System.out.println("  \"keys\": [\n" + String.join(",\n", keys) + "\n  ],");
    System.out.println("  \"samples\": [" + String.join(", ", samples) + "],");
    System.out.println("  \"accepted\": {\n" + String.join(",\n", accepted) + "\n  }\n}");
  }

  static final String[] SAMPLES = {
    "", " ", "0", "1", "-1", "-2", "-3", "2", "3", "4", "9", "10", "17", "18", "22", "23", "-131072", "-131073", "1048576", "1048575", "+5", " 7 ", "1.5", "0.25", "1.01", "1e3", "0x10", "1_000",
    "2147483639", "2147483640", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "NaN", "Infinity",
    "true", "TRUE", " false ", "yes", "delete", "compact", "compact,delete", "delete, compact", "compact,compact", "Delete", "compact,", ",delete", "delete,nonsense",
    "producer", "uncompressed", "none", "gzip", "GZIP", "snappy", "lz4", "zstd", " zstd ", "CreateTime", "LogAppendTime", "createtime",
    "*", "0:1", "0:1,1:2", "0:1, 1:2", "0:a", "0:1,*"
  };

  static boolean accepts(String name, String value) {
    Map<String, String> props = new HashMap<>();
    props.put(name, value);
    try {
      LogConfig.validate(props);
      new LogConfig(props);
      return true;
    } catch (Exception refused) {
      return false;
    }
  }

  static String quote(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}

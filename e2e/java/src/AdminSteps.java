import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.apache.kafka.common.serialization.StringSerializer;

/** What a program does with Kafka's AdminClient: each step prints one line, the same on every broker that behaves the same. */
public class AdminSteps {
  interface Step {
    Object run() throws Exception;
  }

  static void step(String name, Step step) {
    String result;
    try {
      result = String.valueOf(step.run());
    } catch (ExecutionException failed) {
      result = failed.getCause().getClass().getSimpleName();
    } catch (Exception failed) {
      result = failed.getClass().getSimpleName();
    }
    System.out.println(name + ": " + result);
  }

  public static void main(String[] args) throws Exception {
    String topic = "admin-steps";
    String group = "admin-steps-group";
    TopicPartition partition = new TopicPartition(topic, 0);
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    Properties properties = new Properties();
    properties.put("bootstrap.servers", args[0]);
    properties.put("default.api.timeout.ms", "20000");
    properties.put("request.timeout.ms", "10000");
    try (Admin admin = Admin.create(properties)) {
      step("nodes", () -> admin.describeCluster().nodes().get().size());
      step("controller", () -> admin.describeCluster().controller().get().id());
      step("no authorized operations unless asked", () -> admin.describeCluster().authorizedOperations().get());

      step("create", () -> admin.createTopics(List.of(new NewTopic(topic, Optional.empty(), Optional.empty())
          .configs(Map.of("max.message.bytes", "2000")))).all().get());
      step("create again", () -> admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all().get());
      step("create by hand", () -> admin.createTopics(List.of(
          new NewTopic(topic + "-by-hand", Map.of(0, List.of(1))))).all().get());
      step("create on a broker that is missing", () -> admin.createTopics(List.of(
          new NewTopic(topic + "-nowhere", Map.of(0, List.of(9))))).all().get());
      step("create with a bad setting", () -> admin.createTopics(List.of(
          new NewTopic(topic + "-bad", 1, (short) 1).configs(Map.of("retention.ms", "x")))).all().get());
      step("only validate", () -> admin.createTopics(List.of(new NewTopic(topic + "-not", 1, (short) 1)),
          new CreateTopicsOptions().validateOnly(true)).numPartitions(topic + "-not").get());
      step("settings of a new topic", () -> {
        var result = admin.createTopics(List.of(new NewTopic(topic + "-set", 1, (short) 1)
            .configs(Map.of("cleanup.policy", "compact"))));
        return result.config(topic + "-set").get().get("cleanup.policy").value();
      });
      Thread.sleep(1000); // Kafka's broker learns of topics a moment later
      step("list", () -> admin.listTopics().names().get().stream().filter(name -> name.startsWith(topic)).sorted().toList());
      step("describe", () -> describe(admin.describeTopics(List.of(topic)).allTopicNames().get().values()));
      step("describe by id", () -> {
        var id = admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).topicId();
        return describe(admin.describeTopics(TopicCollection.ofTopicIds(List.of(id))).allTopicIds().get().values());
      });
      step("describe what is missing", () -> admin.describeTopics(List.of("missing")).allTopicNames().get());

      step("config", () -> set(admin.describeConfigs(List.of(resource)).all().get().get(resource).entries()));
      step("names of config", () -> admin.describeConfigs(List.of(resource)).all().get().get(resource).entries().stream()
          .map(ConfigEntry::name).filter(AdminSteps::isKafkas).sorted().toList());
      step("types of config", () -> admin.describeConfigs(List.of(resource)).all().get().get(resource).entries().stream()
          .filter(entry -> isKafkas(entry.name())).map(entry -> entry.name() + " " + entry.type()).sorted().toList());
      step("documented", () -> admin.describeConfigs(List.of(resource), new DescribeConfigsOptions().includeDocumentation(true))
          .all().get().get(resource).entries().stream().allMatch(entry -> !entry.documentation().isEmpty()));
      step("set", () -> alter(admin, resource, "retention.bytes", "1000", AlterConfigOp.OpType.SET));
      step("append", () -> alter(admin, resource, "cleanup.policy", "compact", AlterConfigOp.OpType.APPEND));
      step("subtract", () -> alter(admin, resource, "cleanup.policy", "compact", AlterConfigOp.OpType.SUBTRACT));
      step("unset", () -> alter(admin, resource, "max.message.bytes", "", AlterConfigOp.OpType.DELETE));
      step("set what is not known", () -> alter(admin, resource, "no.such.key", "1", AlterConfigOp.OpType.SET));
      step("append to a number", () -> alter(admin, resource, "retention.ms", "1", AlterConfigOp.OpType.APPEND));
      Thread.sleep(500);
      step("config now", () -> set(admin.describeConfigs(List.of(resource)).all().get().get(resource).entries()));
      step("config of a missing topic", () -> admin.describeConfigs(List.of(
          new ConfigResource(ConfigResource.Type.TOPIC, "missing"))).all().get());
      step("config of the broker", () -> {
        ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, "1");
        return admin.describeConfigs(List.of(broker)).all().get().get(broker).get("auto.create.topics.enable").value();
      });
      step("fewer partitions", () -> admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(1))).all().get());
      step("partitions of a missing topic", () -> admin.createPartitions(Map.of("missing", NewPartitions.increaseTo(2))).all().get());

      Properties producing = new Properties();
      producing.putAll(properties);
      producing.remove("default.api.timeout.ms");
      try (var producer = new KafkaProducer<String, String>(producing, new StringSerializer(), new StringSerializer())) {
        for (int index = 0; index < 10; index++) {
          producer.send(new ProducerRecord<>(topic, 0, 1000L * (index + 1) + System.currentTimeMillis() / 100_000_000L * 100_000_000L, "k", "v" + index)).get();
        }
      }
      long base = System.currentTimeMillis() / 100_000_000L * 100_000_000L;
      step("earliest", () -> offset(admin, partition, OffsetSpec.earliest()));
      step("latest", () -> offset(admin, partition, OffsetSpec.latest()));
      step("of a time", () -> offset(admin, partition, OffsetSpec.forTimestamp(base + 4500)));
      step("of a time to come", () -> offset(admin, partition, OffsetSpec.forTimestamp(base + 200_000_000L)));
      step("of the largest time", () -> offset(admin, partition, OffsetSpec.maxTimestamp()));
      step("earliest local", () -> offset(admin, partition, OffsetSpec.earliestLocal()));
      step("latest tiered", () -> offset(admin, partition, OffsetSpec.latestTiered()));
      step("of a missing topic", () -> offset(admin, new TopicPartition("missing", 0), OffsetSpec.latest()));
      step("producers", () -> admin.describeProducers(List.of(partition)).all().get().get(partition).activeProducers().stream()
          .map(state -> state.producerEpoch() + " " + state.lastSequence() + " " + state.coordinatorEpoch() + " " + state.currentTransactionStartOffset()).toList());
      step("delete records", () -> admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(3))).lowWatermarks().get(partition).get().lowWatermark());
      step("delete records past the end", () -> admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(30))).all().get());
      step("earliest now", () -> offset(admin, partition, OffsetSpec.earliest()));
      step("log dirs", () -> admin.describeLogDirs(List.of(1)).allDescriptions().get().get(1).values().stream()
          .flatMap(dir -> dir.replicaInfos().entrySet().stream()).filter(entry -> entry.getKey().topic().equals(topic))
          .map(entry -> entry.getKey() + " " + (entry.getValue().size() > 0) + " " + entry.getValue().offsetLag()).toList());
      step("moves", () -> admin.listPartitionReassignments().reassignments().get());

      step("commit for a group", () -> admin.alterConsumerGroupOffsets(group, Map.of(partition, new OffsetAndMetadata(5))).all().get());
      step("groups", () -> admin.listGroups().all().get().stream().map(each -> each.groupId()).filter(group::equals).toList());
      step("group", () -> {
        var described = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
        return described.groupState() + " " + described.members().size() + " " + described.isSimpleConsumerGroup();
      });
      step("offsets of the group", () -> admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().get(partition).offset());
      step("delete its offsets", () -> admin.deleteConsumerGroupOffsets(group, Set.of(partition)).all().get());
      step("delete the group", () -> admin.deleteConsumerGroups(List.of(group)).all().get());
      step("a group that is missing", () -> admin.describeConsumerGroups(List.of(group)).all().get());

      step("access rules", () -> admin.describeAcls(AclBindingFilter.ANY).values().get());
      step("quotas", () -> admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get());
      step("transactions", () -> admin.listTransactions().all().get());
      step("features", () -> admin.describeFeatures().featureMetadata().get().finalizedFeatures().size());

      step("delete", () -> admin.deleteTopics(List.of(topic, topic + "-by-hand", topic + "-set")).all().get());
      step("delete again", () -> admin.deleteTopics(List.of(topic)).all().get());
      Thread.sleep(500);
      step("list at the end", () -> admin.listTopics().names().get().stream().filter(name -> name.startsWith(topic)).sorted().toList());
    }
  }

  static String describe(Collection<TopicDescription> topics) {
    return topics.stream().map(topic -> topic.name() + " " + topic.isInternal() + " " + topic.partitions().stream()
        .map(each -> each.partition() + ":" + each.leader().id() + ":" + each.replicas().size() + ":" + each.isr().size())
        .toList()).sorted().toList().toString();
  }

  /** What begins with pico. is our own. */
  static boolean isKafkas(String setting) {
    return !setting.startsWith("pico.");
  }

  static String set(Collection<ConfigEntry> entries) {
    return entries.stream().filter(entry -> entry.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG)
        .map(entry -> entry.name() + "=" + entry.value()).sorted().collect(Collectors.joining(" "));
  }

  static Object alter(Admin admin, ConfigResource resource, String name, String value, AlterConfigOp.OpType type)
      throws Exception {
    return admin.incrementalAlterConfigs(Map.of(resource, List.of(new AlterConfigOp(new ConfigEntry(name, value), type)))).all().get();
  }

  static String offset(Admin admin, TopicPartition partition, OffsetSpec spec) throws Exception {
    var found = admin.listOffsets(Map.of(partition, spec)).partitionResult(partition).get();
    return found.offset() + " " + (found.timestamp() >= 0 ? "timed" : "untimed");
  }
}

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.ObjectSerializationCache;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.RawTaggedField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;

/**
 * Writes what Kafka's own generated classes encode, for packages/kafka-codec/test/golden.
 *
 * Every message is filled by a rule that packages/kafka-codec/test/golden-values.ts repeats, so that only the bytes
 * need to be stored. The value of a field is derived from the CRC-32 of its path, `topicData[0].partitionData[1].index`:
 * had we swapped two fields of one type, the bytes would differ.
 *
 * A line is `request|response|message version variant base64`, and the variants are
 *   full     every field by the rule, two elements in an array at the top and one below, nothing null
 *   empty    zeros, empty text, no bytes, no elements
 *   null     null wherever the version allows it; elsewhere as full
 *   nested   the same, but for arrays and structs, which are as full: so nulls inside them
 *   unknown  as empty, but one element in each array, and two unknown tagged fields in every struct
 *
 * Usage: GoldenBytes <folder> for the current Kafka; then, run against an older one, GoldenBytes <folder> older, which
 * adds the versions before the first that is there.
 */
public final class GoldenBytes {
    private enum Variant { FULL, EMPTY, NULL, NESTED, UNKNOWN }

    /** APIs that only brokers and controllers use among themselves. */
    private static final List<Integer> NOT_FOR_CLIENTS = List.of(4, 5, 6, 7, 52, 53, 54, 56, 58, 59, 62, 63, 70, 73);

    /** Messages that are no requests: class, and the highest version. */
    private static final Map<String, Integer> DATA = Map.of(
        "org.apache.kafka.common.message.ConsumerProtocolSubscription", 3,
        "org.apache.kafka.common.message.ConsumerProtocolAssignment", 3,
        "org.apache.kafka.common.message.ControlRecordTypeSchema", 0,
        "org.apache.kafka.common.message.EndTxnMarker", 0,
        "org.apache.kafka.coordinator.group.generated.OffsetCommitKey", 0,
        "org.apache.kafka.coordinator.group.generated.OffsetCommitValue", 4,
        "org.apache.kafka.coordinator.group.generated.GroupMetadataKey", 0,
        "org.apache.kafka.coordinator.group.generated.GroupMetadataValue", 4);

    private final Variant variant;

    private GoldenBytes(Variant variant) {
        this.variant = variant;
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        boolean older = args.length > 1;
        Files.createDirectories(folder);
        for (ApiMessageType api : ApiMessageType.values()) {
            if (NOT_FOR_CLIENTS.contains((int) api.apiKey())) continue;
            Path file = folder.resolve(kebab(api.name) + ".txt");
            // An API that the current Kafka does not have is none of ours.
            if (older && !Files.exists(file)) continue;
            List<Entry> entries = older ? read(file) : new ArrayList<>();
            short first = api.lowestSupportedVersion();
            int end = older ? entries.get(0).version : api.highestSupportedVersion(true) + 1;
            if (older && api.highestSupportedVersion(false) < end) continue; // never stable
            for (short version = first; version < end; version++) {
                entries.addAll(encodeAll("request", api.newRequest().getClass(), version));
                entries.addAll(encodeAll("response", api.newResponse().getClass(), version));
            }
            write(file, entries);
        }
        if (older) return;
        for (Map.Entry<String, Integer> message : DATA.entrySet()) {
            Class<?> type = Class.forName(message.getKey());
            List<Entry> entries = new ArrayList<>();
            for (short version = 0; version <= message.getValue(); version++) {
                entries.addAll(encodeAll("message", type, version));
            }
            write(folder.resolve("message-" + kebab(type.getSimpleName()) + ".txt"), entries);
        }
        writeHeaderVersions(folder.resolve("header-versions.txt"));
        writeHeaders(folder.resolve("headers.txt"));
        writeErrors(folder.resolve("errors.txt"));
    }

    /** For every API and version, which headers belong to it: `key version request-header response-header`. */
    private static void writeHeaderVersions(Path file) throws IOException {
        StringBuilder text = new StringBuilder();
        for (ApiMessageType api : ApiMessageType.values()) {
            if (NOT_FOR_CLIENTS.contains((int) api.apiKey())) continue;
            for (short version = api.lowestSupportedVersion(); version <= api.highestSupportedVersion(true); version++) {
                text.append(api.apiKey()).append(' ').append(version).append(' ')
                    .append(api.requestHeaderVersion(version)).append(' ')
                    .append(api.responseHeaderVersion(version)).append('\n');
            }
        }
        Files.writeString(file, text);
    }

    /** Headers of Produce v3 and v9, with and without a client id: `request|response version client-id base64`. */
    private static void writeHeaders(Path file) throws IOException {
        StringBuilder text = new StringBuilder();
        for (short version : new short[] {3, 9}) {
            for (String clientId : new String[] {"piccolé", null}) {
                RequestHeaderData request = new RequestHeaderData()
                    .setRequestApiKey(ApiMessageType.PRODUCE.apiKey())
                    .setRequestApiVersion(version)
                    .setCorrelationId(0x01020304)
                    .setClientId(clientId);
                String bytes = encode(request, ApiMessageType.PRODUCE.requestHeaderVersion(version));
                text.append("request ").append(version).append(' ').append(clientId).append(' ').append(bytes).append('\n');
            }
            ResponseHeaderData response = new ResponseHeaderData().setCorrelationId(0x01020304);
            String bytes = encode(response, ApiMessageType.PRODUCE.responseHeaderVersion(version));
            text.append("response ").append(version).append(" null ").append(bytes).append('\n');
        }
        Files.writeString(file, text);
    }

    private static void writeErrors(Path file) throws IOException {
        StringBuilder text = new StringBuilder();
        for (Errors error : Errors.values()) {
            text.append(error.code()).append(' ').append(error.name()).append(' ')
                .append(error.exception() instanceof RetriableException ? "retriable" : "permanent").append('\n');
        }
        Files.writeString(file, text);
    }

    private record Entry(String direction, short version, Variant variant, String bytes) implements Comparable<Entry> {
        @Override
        public int compareTo(Entry other) {
            int byDirection = direction.compareTo(other.direction);
            if (byDirection != 0) return byDirection;
            return version != other.version ? version - other.version : variant.compareTo(other.variant);
        }

        String line() {
            return direction + ' ' + version + ' ' + variant.name().toLowerCase() + ' ' + bytes;
        }

        static Entry parse(String line) {
            String[] words = line.split(" ", -1);
            return new Entry(words[0], Short.parseShort(words[1]), Variant.valueOf(words[2].toUpperCase()), words[3]);
        }
    }

    private static List<Entry> read(Path file) throws IOException {
        List<Entry> entries = new ArrayList<>();
        for (String line : Files.readAllLines(file)) entries.add(Entry.parse(line));
        return entries;
    }

    private static void write(Path file, List<Entry> entries) throws IOException {
        StringBuilder text = new StringBuilder();
        entries.stream().sorted().forEach(entry -> text.append(entry.line()).append('\n'));
        Files.writeString(file, text);
    }

    private static List<Entry> encodeAll(String direction, Class<?> type, short version) throws Exception {
        List<Entry> entries = new ArrayList<>();
        for (Variant variant : Variant.values()) {
            Schema schema = schemaOf(type, version);
            if (variant == Variant.UNKNOWN && !isFlexible(schema)) continue;
            Message message = new GoldenBytes(variant).fill(type, schema, "", 0);
            entries.add(new Entry(direction, version, variant, encode(message, version)));
        }
        return entries;
    }

    private static String encode(Message message, short version) {
        ObjectSerializationCache cache = new ObjectSerializationCache();
        ByteBuffer buffer = ByteBuffer.allocate(message.size(cache, version));
        message.write(new ByteBufferAccessor(buffer), cache, version);
        if (buffer.hasRemaining()) throw new IllegalStateException(message + " v" + version + " is shorter than its size");
        return Base64.getEncoder().encodeToString(buffer.array());
    }

    private static Schema schemaOf(Class<?> type, short version) throws ReflectiveOperationException {
        return ((Schema[]) type.getField("SCHEMAS").get(null))[version];
    }

    private static boolean isFlexible(Schema schema) {
        for (BoundField field : schema.fields()) {
            if (field.def.type instanceof TaggedFields) return true;
        }
        return false;
    }

    /** The schema tells which fields the version has and what may be null; the class tells what to fill. */
    private Message fill(Class<?> type, Schema schema, String path, int depth) throws Exception {
        Message message = (Message) type.getConstructor().newInstance();
        for (BoundField field : schema.fields()) {
            if (field.def.type instanceof TaggedFields tagged) {
                for (org.apache.kafka.common.protocol.types.Field each : new TreeMap<>(tagged.fields()).values()) {
                    set(message, each.name, each.type, path, depth);
                }
                if (variant == Variant.UNKNOWN) {
                    message.unknownTaggedFields().add(new RawTaggedField(900, new byte[] {1, 2, 3}));
                    message.unknownTaggedFields().add(new RawTaggedField(1000, new byte[0]));
                }
            } else {
                set(message, field.def.name, field.def.type, path, depth);
            }
        }
        return message;
    }

    private void set(Message message, String snakeName, Type type, String path, int depth) throws Exception {
        Field field = fieldOf(message.getClass(), snakeName);
        field.setAccessible(true);
        String fieldPath = path.isEmpty() ? field.getName() : path + '.' + field.getName();
        field.set(message, value(field, type, fieldPath, depth));
    }

    private Object value(Field field, Type type, String path, int depth) throws Exception {
        boolean nested = type instanceof Schema || type.isArray();
        if (type.isNullable() && (variant == Variant.NULL || variant == Variant.NESTED && !nested)) return null;
        if (type.isArray()) return elements(field, type.arrayElementType().orElseThrow(), path, depth);
        if (type instanceof Schema schema) return fill(field.getType(), schema, path, depth + 1);
        return scalar(field.getType(), type.toString(), path);
    }

    private Object elements(Field field, Type element, String path, int depth) throws Exception {
        @SuppressWarnings("unchecked")
        Collection<Object> collection = field.getType() == List.class
            ? new ArrayList<>()
            : (Collection<Object>) field.getType().getConstructor().newInstance();
        for (int index = 0; index < elementCount(depth); index++) {
            String elementPath = path + '[' + index + ']';
            if (element instanceof Schema schema) {
                collection.add(fill(elementClass(field), schema, elementPath, depth + 1));
            } else {
                collection.add(scalar(elementClass(field), element.toString(), elementPath));
            }
        }
        return collection;
    }

    private int elementCount(int depth) {
        return switch (variant) {
            case EMPTY -> 0;
            case FULL -> depth == 0 ? 2 : 1;
            default -> 1;
        };
    }

    private Object scalar(Class<?> javaType, String wireType, String path) {
        boolean zero = variant == Variant.EMPTY || variant == Variant.UNKNOWN;
        CRC32 crc32 = new CRC32();
        crc32.update(path.getBytes(StandardCharsets.UTF_8));
        long crc = zero ? 0 : crc32.getValue();
        String name = wireType.replace("COMPACT_", "").replace("NULLABLE_", "");
        switch (name) {
            case "BOOLEAN": return (crc & 1) == 1;
            case "INT8": return (byte) crc;
            case "INT16": return (short) crc;
            case "UINT16": return (int) (crc & 0xffff);
            case "INT32": return (int) crc;
            case "UINT32": case "UNSIGNED_INT32": return crc;
            case "INT64": return (crc << 32) ^ crc;
            case "FLOAT64": return crc / 4.0;
            case "UUID": return new Uuid((crc << 32) ^ crc, (crc << 32) ^ crc);
            case "STRING": return zero ? "" : Long.toString(crc, 36) + "é";
            case "BYTES": return javaType == ByteBuffer.class ? ByteBuffer.wrap(bytes(crc, zero)) : bytes(crc, zero);
            case "RECORDS": return records(bytes(crc, zero));
            default: throw new IllegalStateException("no rule for " + wireType + " at " + path);
        }
    }

    private static byte[] bytes(long crc, boolean zero) {
        return zero ? new byte[0] : ByteBuffer.allocate(4).putInt((int) crc).array();
    }

    /** MemoryRecords over any bytes; found by name, because it has moved between packages. */
    private static Object records(byte[] bytes) {
        for (String name : List.of("org.apache.kafka.common.record.MemoryRecords", "org.apache.kafka.common.record.internal.MemoryRecords")) {
            try {
                Method readable = Class.forName(name).getMethod("readableRecords", ByteBuffer.class);
                return readable.invoke(null, ByteBuffer.wrap(bytes));
            } catch (ClassNotFoundException e) {
                // The other package, then.
            } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
                throw new IllegalStateException(e);
            }
        }
        throw new IllegalStateException("no MemoryRecords");
    }

    /** `List<X>`, or a collection class that extends one of X. */
    private static Class<?> elementClass(Field field) {
        ParameterizedType type = (ParameterizedType) (field.getType() == List.class
            ? field.getGenericType()
            : field.getType().getGenericSuperclass());
        return (Class<?>) type.getActualTypeArguments()[0];
    }

    private static Field fieldOf(Class<?> type, String snakeName) {
        for (Field field : type.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers()) && snake(field.getName()).equals(snakeName)) return field;
        }
        throw new IllegalStateException(type + " has no field for " + snakeName);
    }

    /** As Kafka's message generator makes the name in the schema from that in the description, which begins in upper case. */
    private static String snake(String name) {
        return separated(Character.toUpperCase(name.charAt(0)) + name.substring(1), '_');
    }

    private static String kebab(String name) {
        return separated(name, '-');
    }

    private static String separated(String name, char separator) {
        StringBuilder result = new StringBuilder();
        boolean previousIsUpper = true;
        for (char c : name.toCharArray()) {
            boolean upper = Character.isUpperCase(c);
            if (upper && !previousIsUpper) result.append(separator);
            result.append(Character.toLowerCase(c));
            previousIsUpper = upper;
        }
        return result.toString();
    }
}

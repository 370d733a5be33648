"""Serializes and deserializes values with the serializers of confluent-kafka, whose schemas are in a registry.

  schema_registry.py serialize URL KIND TOPIC SCHEMA    values on stdin, JSON a line; prints each in base64
  schema_registry.py deserialize URL KIND TOPIC SCHEMA  values on stdin, base64 a line; prints each as JSON

KIND is avro, json or protobuf. SCHEMA is a file: of Avro or JSON Schema the text; of Protobuf a serialized file descriptor in base64, and values
are of its type Order.
"""

import base64
import json
import sys

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory, timestamp_pb2


def order_class(schema):
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(schema))
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.Order"))


def serializer(client, kind, schema):
    if kind == "avro":
        return AvroSerializer(client, schema)
    if kind == "json":
        return JSONSerializer(schema, client)
    order = order_class(schema)
    inner = ProtobufSerializer(order, client)
    return lambda value, context: inner(json_format.ParseDict(value, order()), context)


def deserializer(client, kind, schema):
    if kind == "avro":
        return AvroDeserializer(client)
    if kind == "json":
        return JSONDeserializer(None, schema_registry_client=client)
    inner = ProtobufDeserializer(order_class(schema), {}, client)
    return lambda value, context: json_format.MessageToDict(inner(value, context), preserving_proto_field_name=True)


def main(what, url, kind, topic, path):
    with open(path, encoding="utf-8") as file:
        schema = file.read()
    client = SchemaRegistryClient({"url": url})
    context = SerializationContext(topic, MessageField.VALUE)
    if what == "serialize":
        serialize = serializer(client, kind, schema)
        for line in sys.stdin:
            print(base64.b64encode(serialize(json.loads(line), context)).decode())
    else:
        deserialize = deserializer(client, kind, schema)
        for line in sys.stdin:
            print(json.dumps(deserialize(base64.b64decode(line), context)))


if __name__ == "__main__":
    main(*sys.argv[1:])

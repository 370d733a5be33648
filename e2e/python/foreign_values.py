"""Values as other libraries than ours write them, a line each, in base64.

  foreign_values.py avro COUNT < SCHEMA   random values of an Avro schema, by fastavro
  foreign_values.py protobuf COUNT        random `foreign.Everything`, by protobuf; the message is that of src/schemas/foreign-schemas.ts
"""

import base64
import json
import random
import struct
import sys

from fastavro import parse_schema, schemaless_writer
from fastavro.utils import generate_many
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

F = descriptor_pb2.FieldDescriptorProto

SCALARS = [
    ("double", F.TYPE_DOUBLE),
    ("float", F.TYPE_FLOAT),
    ("int32", F.TYPE_INT32),
    ("int64", F.TYPE_INT64),
    ("uint32", F.TYPE_UINT32),
    ("uint64", F.TYPE_UINT64),
    ("sint32", F.TYPE_SINT32),
    ("sint64", F.TYPE_SINT64),
    ("fixed32", F.TYPE_FIXED32),
    ("fixed64", F.TYPE_FIXED64),
    ("sfixed32", F.TYPE_SFIXED32),
    ("sfixed64", F.TYPE_SFIXED64),
    ("bool", F.TYPE_BOOL),
    ("string", F.TYPE_STRING),
    ("bytes", F.TYPE_BYTES),
]


class Output:
    def __init__(self):
        self.data = bytearray()

    def write(self, data):
        self.data += data


def avro(count):
    schema = parse_schema(json.load(sys.stdin))
    for value in generate_many(schema, count):
        output = Output()
        schemaless_writer(output, schema, value)
        yield bytes(output.data)


def everything():
    """The message of src/schemas/foreign-schemas.ts: a field of each type, alone and repeated, and what else there is in proto3."""
    file = descriptor_pb2.FileDescriptorProto(name="foreign.proto", package="foreign", syntax="proto3")
    shade = file.enum_type.add(name="Shade")
    for number, name in enumerate(["PLAIN", "DARK", "LIGHT"]):
        shade.value.add(name=name, number=number)
    message = file.message_type.add(name="Everything")
    for number, (name, kind) in enumerate(SCALARS, 1):
        message.field.add(name=f"one_{name}", number=number, type=kind, label=F.LABEL_OPTIONAL)
        message.field.add(name=f"many_{name}", number=number + 20, type=kind, label=F.LABEL_REPEATED)
    kinds = {"type": F.TYPE_ENUM, "type_name": ".foreign.Shade"}
    message.field.add(name="shade", number=41, label=F.LABEL_OPTIONAL, **kinds)
    message.field.add(name="shades", number=42, label=F.LABEL_REPEATED, **kinds)
    inner = {"type": F.TYPE_MESSAGE, "type_name": ".foreign.Everything"}
    message.field.add(name="inner", number=43, label=F.LABEL_OPTIONAL, **inner)
    message.field.add(name="inners", number=44, label=F.LABEL_REPEATED, **inner)
    entry = message.nested_type.add(name="CountsEntry")
    entry.options.map_entry = True
    entry.field.add(name="key", number=1, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL)
    entry.field.add(name="value", number=2, type=F.TYPE_INT64, label=F.LABEL_OPTIONAL)
    message.field.add(
        name="counts", number=45, label=F.LABEL_REPEATED, type=F.TYPE_MESSAGE, type_name=".foreign.Everything.CountsEntry"
    )
    message.oneof_decl.add(name="choice")
    message.field.add(name="word", number=46, type=F.TYPE_STRING, label=F.LABEL_OPTIONAL, oneof_index=0)
    message.field.add(name="number", number=1000, type=F.TYPE_SINT64, label=F.LABEL_OPTIONAL, oneof_index=0)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("foreign.Everything"))


def scalar(name):
    bits = 32 if "32" in name else 64
    if name == "double":
        return random.choice([0.0, -1.5, float("nan"), float("inf"), random.uniform(-1e300, 1e300)])
    if name == "float":
        return struct.unpack("<f", struct.pack("<f", random.uniform(-1e30, 1e30)))[0]
    if name == "bool":
        return random.random() < 0.5
    if name == "string":
        return "".join(random.choice("abc ñ☃𝄞\x00") for _ in range(random.randrange(9)))
    if name == "bytes":
        return random.randbytes(random.randrange(9))
    if name.startswith(("uint", "fixed")):
        return random.choice([0, 2**bits - 1, random.getrandbits(bits)])
    return random.choice([0, -1, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1, random.getrandbits(bits - 1)])


def fill(message, depth):
    for name, _ in SCALARS:
        if random.random() < 0.7:
            setattr(message, f"one_{name}", scalar(name))
        getattr(message, f"many_{name}").extend(scalar(name) for _ in range(random.randrange(4)))
    message.shade = random.choice([0, 1, 2, 77])
    message.shades.extend(random.choices([0, 1, 2, 77], k=random.randrange(4)))
    for _ in range(random.randrange(3)):
        message.counts[scalar("string")] = scalar("int64")
    if random.random() < 0.5:
        message.word = scalar("string")
    else:
        message.number = scalar("sint64")
    if depth > 0:
        fill(message.inner, depth - 1)
        for _ in range(random.randrange(3)):
            fill(message.inners.add(), 0)


def protobuf(count):
    make = everything()
    for _ in range(count):
        message = make()
        fill(message, random.randrange(3))
        yield message.SerializeToString()


if __name__ == "__main__":
    random.seed(7)
    kind, count = sys.argv[1], int(sys.argv[2])
    for value in avro(count) if kind == "avro" else protobuf(count):
        print(base64.b64encode(value).decode())

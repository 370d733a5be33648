"""Writes or reads records with confluent-kafka (librdkafka).

  round_trip.py produce TOPIC name=value...     records on stdin, a JSON object a line; prints the offset of each
  round_trip.py consume BOOTSTRAP TOPIC=COUNT...  reads partition 0 from offset 0 by assign; prints a JSON object a record
"""

import base64
import json
import sys
import time

from confluent_kafka import Consumer, Producer, TopicPartition

PATIENCE_S = 30


def unbase64(text):
    return None if text is None else base64.b64decode(text)


def to_base64(data):
    return None if data is None else base64.b64encode(data).decode()


def produce(topic, properties):
    producer = Producer(dict(pair.split("=", 1) for pair in properties))
    offsets = {}

    def delivered(index):
        def report(error, message):
            if error is not None:
                raise SystemExit(f"record {index}: {error}")
            offsets[index] = message.offset()

        return report

    count = 0
    for line in sys.stdin:
        record = json.loads(line)
        headers = [(name, unbase64(value)) for name, value in record["headers"]]
        producer.produce(
            topic,
            partition=0,
            key=unbase64(record["key"]),
            value=unbase64(record["value"]),
            headers=headers,
            on_delivery=delivered(count),
        )
        count += 1
    left = producer.flush(PATIENCE_S)
    if left:
        raise SystemExit(f"{left} records were not delivered")
    for index in range(count):
        offset = offsets[index]
        print(-1 if offset is None else offset)


def consume(bootstrap, wanted):
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "enable.auto.commit": False})
    left = {topic: int(count) for topic, count in (pair.rsplit("=", 1) for pair in wanted)}
    consumer.assign([TopicPartition(topic, 0, 0) for topic in left])
    deadline = time.monotonic() + PATIENCE_S
    while any(count > 0 for count in left.values()):
        if time.monotonic() > deadline:
            raise SystemExit(f"did not come: {left}")
        message = consumer.poll(1.0)
        if message is None:
            continue
        if message.error():
            raise SystemExit(f"{message.topic()}: {message.error()}")
        left[message.topic()] -= 1
        print(
            json.dumps(
                {
                    "topic": message.topic(),
                    "offset": message.offset(),
                    "timestamp": message.timestamp()[1],
                    "key": to_base64(message.key()),
                    "value": to_base64(message.value()),
                    "headers": [[name, to_base64(value)] for name, value in message.headers() or []],
                }
            )
        )
    consumer.close()


if __name__ == "__main__":
    if sys.argv[1] == "produce":
        produce(sys.argv[2], sys.argv[3:])
    else:
        consume(sys.argv[2], sys.argv[3:])

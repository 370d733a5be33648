"""A member of a consumer group with confluent-kafka (librdkafka): prints each record's value, a line each.

  group_member.py TOPIC,TOPIC... name=value...   leaves the group on SIGTERM, committing what it has printed
"""

import signal
import sys

from confluent_kafka import Consumer, KafkaError

running = True


def stop(*_):
    global running
    running = False


def main(topics, properties):
    signal.signal(signal.SIGTERM, stop)
    consumer = Consumer(dict(pair.split("=", 1) for pair in properties))
    consumer.subscribe(topics)
    while running:
        message = consumer.poll(0.1)
        if message is None:
            continue
        error = message.error()
        if error is None:
            print(message.value().decode(), flush=True)
        elif error.fatal() or error.code() != KafkaError._ALL_BROKERS_DOWN:
            print(error, file=sys.stderr, flush=True)
    consumer.close()


if __name__ == "__main__":
    main(sys.argv[1].split(","), sys.argv[2:])

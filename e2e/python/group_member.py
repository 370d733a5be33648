"""A member of a consumer group with confluent-kafka (librdkafka), which commits by itself what has been reported.

  group_member.py TOPIC,TOPIC... name=value...   leaves the group on SIGTERM
"""

import signal
import sys

from confluent_kafka import Consumer, KafkaError
from member_report import Report

running = True


def stop(*_):
    global running
    running = False


def main(topics, properties):
    signal.signal(signal.SIGTERM, stop)
    report = Report()

    def assigned(_, partitions):
        report.owns_more([each.partition for each in partitions])

    def revoked(_, partitions):
        report.gave_up([each.partition for each in partitions])

    def committed(error, partitions):
        done = [[each.partition, each.offset] for each in partitions if each.error is None and each.offset >= 0]
        report.committed(done if error is None else [])

    settings = dict(pair.split("=", 1) for pair in properties)
    # Offsets are stored for the next commit once a record is done with, not when it is handed out.
    consumer = Consumer({**settings, "enable.auto.offset.store": False, "on_commit": committed})
    consumer.subscribe(topics, on_assign=assigned, on_revoke=revoked, on_lost=revoked)
    while running:
        message = consumer.poll(0.1)
        if message is None:
            continue
        error = message.error()
        if error is None:
            report.processed(message.partition(), message.offset(), message.value())
            consumer.store_offsets(message)
        elif error.fatal() or error.code() != KafkaError._ALL_BROKERS_DOWN:
            print(error, file=sys.stderr, flush=True)
    consumer.close()


if __name__ == "__main__":
    main(sys.argv[1].split(","), sys.argv[2:])

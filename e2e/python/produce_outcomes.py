"""Writes batches with confluent-kafka (librdkafka), one after the other and all by one producer, and says what became of each record.

  produce_outcomes.py name=value...   batches on stdin, a JSON object a line: {"topic", "records": [{"key", "value"}]} with base64 bytes;
                                      prints a line a batch: [{"offset"} or {"error", "message"}]

The time to linger should be long: a line is to be one batch.
"""

import base64
import json
import sys

from confluent_kafka import Producer

PATIENCE_S = 30


def unbase64(text):
    return None if text is None else base64.b64decode(text)


def main(properties):
    producer = Producer(dict(pair.split("=", 1) for pair in properties))
    for line in sys.stdin:
        batch = json.loads(line)
        outcomes = [None] * len(batch["records"])

        def delivered(index):
            def report(error, message):
                if error is None:
                    outcomes[index] = {"offset": message.offset()}
                else:
                    outcomes[index] = {"error": error.name(), "message": error.str()}

            return report

        for index, record in enumerate(batch["records"]):
            key, value = unbase64(record["key"]), unbase64(record["value"])
            producer.produce(batch["topic"], partition=0, key=key, value=value, on_delivery=delivered(index))
        if producer.flush(PATIENCE_S):
            raise SystemExit(f"records of {batch['topic']} were not delivered")
        print(json.dumps(outcomes), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

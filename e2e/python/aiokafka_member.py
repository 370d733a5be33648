"""A member of a consumer group with aiokafka, which commits what it has reported, by its own hand.

  aiokafka_member.py TOPIC name=value...   leaves the group on SIGTERM; names as aiokafka spells them
"""

import asyncio
import signal
import sys
import time

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.errors import KafkaConnectionError, KafkaError
from member_report import Report

COMMIT_INTERVAL_S = 0.5


class Member(ConsumerRebalanceListener):
    def __init__(self, topic, settings):
        self.report = Report()
        self.consumer = AIOKafkaConsumer(enable_auto_commit=False, auto_offset_reset="earliest", **settings)
        self.consumer.subscribe([topic], listener=self)
        self.uncommitted = {}
        # Of two commits at once the one with lower offsets could be sent again, after the other.
        self.committing = asyncio.Lock()

    async def on_partitions_assigned(self, assigned):
        # There is no public way to learn the generation.
        generation_id = self.consumer._coordinator.generation
        self.report.owns_more([each.partition for each in assigned], generation_id)

    async def on_partitions_revoked(self, revoked):
        await self.commit()
        self.uncommitted.clear()
        self.report.gave_up([each.partition for each in revoked])

    async def run(self, stopping):
        await self.start()
        committed_at = time.monotonic()
        while not stopping.is_set():
            batches = await self.consumer.getmany(timeout_ms=100)
            for partition, records in batches.items():
                for record in records:
                    self.report.processed(partition.partition, record.offset, record.value)
                    self.uncommitted[partition] = record.offset + 1
            if time.monotonic() > committed_at + COMMIT_INTERVAL_S:
                await self.commit()
                committed_at = time.monotonic()
        await self.commit()
        await self.consumer.stop()

    async def start(self):
        while True:
            try:
                return await self.consumer.start()
            except KafkaConnectionError as error:  # the broker is being restarted: aiokafka asks once
                print(error, file=sys.stderr, flush=True)
                await asyncio.sleep(0.2)

    async def commit(self):
        async with self.committing:
            offsets, self.uncommitted = self.uncommitted, {}
            if not offsets:
                return
            try:
                await self.consumer.commit(offsets)
                self.report.committed([[each.partition, offset] for each, offset in offsets.items()])
            except KafkaError as error:  # the next owner begins at what was committed before
                print(repr(error), file=sys.stderr, flush=True)


async def main(topic, properties):
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    pairs = (pair.split("=", 1) for pair in properties)
    settings = {name: int(value) if value.isdigit() else value for name, value in pairs}
    await Member(topic, settings).run(stopping)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2:]))

"""What a member of a group says of itself: a JSON object a line, as src/groups/member-report.ts reads it."""

import json
import time


class Report:
    """Keeps the set of partitions held, as clients of the cooperative protocol are told of changes only."""

    def __init__(self):
        self.held = set()

    def owns_more(self, partitions, generation_id=None):
        self.held.update(partitions)
        generation = {} if generation_id is None else {"generationId": generation_id}
        self._say("owns", partitions=sorted(self.held), **generation)

    def gave_up(self, partitions):
        self.held.difference_update(partitions)
        self._say("gaveUp", partitions=sorted(partitions))

    def processed(self, partition, offset, value):
        self._say("processed", partition=partition, offset=offset, value=value.decode())

    def committed(self, offsets):
        """Pairs of a partition and the offset of its next record."""
        if offsets:
            self._say("committed", offsets=offsets)

    def _say(self, kind, **more):
        print(json.dumps({"atMs": int(time.time() * 1000), "kind": kind, **more}), flush=True)

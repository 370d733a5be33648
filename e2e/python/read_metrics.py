"""Reads metrics as Prometheus scrapes them, from standard input, by Prometheus' own Python parser; prints families in JSON.

A line it cannot read is an error, and so is a series that is there twice.
"""

import json
import sys

from prometheus_client.parser import text_string_to_metric_families

seen = set()
families = []
for family in text_string_to_metric_families(sys.stdin.read()):
    samples = []
    for sample in family.samples:
        series = (sample.name, tuple(sorted(sample.labels.items())))
        if series in seen:
            sys.exit(f"{series} is there twice")
        seen.add(series)
        samples.append({"name": sample.name, "labels": sample.labels, "value": sample.value})
    families.append({"name": family.name, "type": family.type, "help": family.documentation, "samples": samples})
json.dump(families, sys.stdout)

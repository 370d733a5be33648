#!/bin/sh
# The other way round: Kafka's classes read what this package writes. Needs what generate.sh needs, and a built or
# linked workspace. Exits 1 if a batch cannot be read or reads differently.
set -eu
cd "$(dirname "$0")"
mkdir -p target
node --conditions=@pico/source ../test/written-batches.ts > target/written.json
mvn -q compile exec:java -Dexec.mainClass=Main -Dexec.args="read target"

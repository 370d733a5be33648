#!/bin/sh
# The tests that need more than Node: Kafka's own message descriptions, a real Kafka broker, kcat, clients in other languages.
# With arguments, only what they name, one file at a time.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
cd e2e
if [ $# -gt 0 ]; then exec vitest run "$@"; fi

# These wait more than they work, and measure nothing that others could disturb: two files at a time. The rest have the machine alone.
together='admin admin-cluster checker cli clients codec-pack compacted-topics connect connect-judge cross-judge cross-names cross-protocol
durable-streams durable-streams-restarts foreign-values group-tools groups groups-oracle json-schema-suite kafka-streams lifecycle partitions
protocol-oracle schemas tools'
files='' without=''
for name in $together; do
  files="$files test/$name.test.ts"
  without="$without --exclude test/$name.test.ts"
done

# Twenty of each of eight clients take four minutes, eight take two.
E2E_ROLLING_RESTARTS=${E2E_ROLLING_RESTARTS:-8}
export E2E_ROLLING_RESTARTS

failed=0
KAFKA_MESSAGES_DIR=$(sh golden/fetch-messages.sh)
export KAFKA_MESSAGES_DIR
(cd .. && vitest run --project @pico/kafka-codec check-messages) || failed=1
node --conditions=@pico/source src/prepare-tools.ts
# shellcheck disable=SC2086
sh ../scripts/vitest-again.sh --fileParallelism --maxWorkers=2 $files || failed=1
# shellcheck disable=SC2086
sh ../scripts/vitest-again.sh $without || failed=1
exit $failed

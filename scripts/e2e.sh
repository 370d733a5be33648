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
together_report=$(mktemp)
# shellcheck disable=SC2086
if ! vitest run --fileParallelism --maxWorkers=2 --reporter=default --reporter=json --outputFile.json="$together_report" $files; then
  # A file that fails beside another has the machine alone once more: clients in other languages wait for only so long.
  again=$(node -e '
    const report = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))
    for (const { name, status } of report.testResults) if (status !== "passed") console.log(name)' "$together_report")
  # shellcheck disable=SC2086
  if [ -n "$again" ] && vitest run $again; then
    for file in $again; do echo "failed beside another file, passed alone: $(basename "$file")"; done
  else
    failed=1
  fi
fi
# shellcheck disable=SC2086
vitest run $without || failed=1
exit $failed

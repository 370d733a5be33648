#!/bin/sh
# vitest with the arguments given; then the files that failed once more, with nobody beside them and the same seeds: tests that measure, and
# clients in other languages that wait for only so long, meet others at work. What passes then is told by name at the end. Those that search
# for lost records by chance have no second try.
set -eu
TEST_SEED=${TEST_SEED:-$(node -p 'Date.now() % 1e9')}
export TEST_SEED

report=$(mktemp)
if vitest run "$@" --reporter=default --reporter=json --outputFile.json="$report"; then exit 0; fi
again=$(node -e '
  const searching = /(chaos|crash|cross-protocol|failures|interruptions|model|simulation)\.test\.ts$/
  const { testResults } = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))
  const failed = testResults.filter(({ status }) => status !== "passed").map(({ name }) => name)
  if (!failed.some((name) => searching.test(name))) console.log(failed.join("\n"))' "$report")
if [ -z "$again" ]; then exit 1; fi
# shellcheck disable=SC2086
vitest run --no-file-parallelism $again
for file in $again; do echo "failed at first, passed alone: $(basename "$file")"; done

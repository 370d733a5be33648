#!/bin/sh
# Pico beside a real Apache Kafka, on this machine, in one run. `npm run bench -- --help` lists the options.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
exec node --conditions=@pico/source e2e/src/bench/main.ts "$@"

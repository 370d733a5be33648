#!/bin/sh
# The tests that need more than Node: Kafka's own message descriptions, a real Kafka broker, kcat, Java and Python clients.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/node_modules/.bin:$PATH"
KAFKA_MESSAGES_DIR=$(sh e2e/golden/fetch-messages.sh)
export KAFKA_MESSAGES_DIR
vitest run --project @pico/kafka-codec check-messages
cd e2e
exec vitest run "$@"

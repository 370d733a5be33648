#!/bin/sh
# Unpacks Kafka's own message descriptions, for the check that holds our declarations against them:
#   KAFKA_MESSAGES_DIR=$(sh e2e/golden/fetch-messages.sh) npx vitest run --project @pico/kafka-codec
# Needs mvn and unzip. Prints the directory, with a folder per version of Kafka in it.
set -eu
cd "$(dirname "$0")"
. ./jars.sh
messages=$PWD/target/messages
mkdir -p "$messages/$kafka" "$messages/$older_kafka"
for jar in "$(jar_of "org.apache.kafka:kafka-clients:$kafka")" "$(jar_of "org.apache.kafka:kafka-group-coordinator:$kafka")"; do
  unzip -q -o -j "$jar" 'common/message/*.json' -d "$messages/$kafka" >&2
done
unzip -q -o -j "$(jar_of "org.apache.kafka:kafka-clients:$older_kafka")" 'common/message/*.json' -d "$messages/$older_kafka" >&2
echo "$messages"

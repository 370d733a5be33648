#!/bin/sh
# Writes packages/kafka-codec/test/golden anew. Needs a JDK (17 or later) and mvn.
set -eu
cd "$(dirname "$0")"
. ./jars.sh
golden=$PWD/../../packages/kafka-codec/test/golden
classes=$PWD/target/classes
logging=$(jar_of org.slf4j:slf4j-api:1.7.36):$(jar_of org.slf4j:slf4j-nop:1.7.36)
current=$(jar_of "org.apache.kafka:kafka-clients:$kafka"):$(jar_of "org.apache.kafka:kafka-group-coordinator:$kafka"):$logging
previous=$(jar_of "org.apache.kafka:kafka-clients:$older_kafka"):$logging
rm -rf "$golden"
javac -d "$classes" -cp "$current" GoldenBytes.java
java -cp "$current:$classes" GoldenBytes "$golden"
java -cp "$previous:$classes" GoldenBytes "$golden" older

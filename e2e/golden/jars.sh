# Sourced by the scripts beside it: gets the jars of Apache Kafka from Maven Central into target/jars.
# 4.4.0 is what the codec follows; 3.9.1 is the last to describe the old versions that Kafka 4 removed (KIP-896).
kafka=4.4.0
older_kafka=3.9.1
jars=$PWD/target/jars

jar_of() { # group:artifact:version -> the file it was copied to
  artifact=${1#*:}
  file=$jars/$(echo "$artifact" | tr : -).jar
  if [ ! -f "$file" ]; then
    mvn -q -B dependency:get -Dartifact="$1" -Dtransitive=false >&2
    mvn -q -B dependency:copy -Dartifact="$1" -DoutputDirectory="$jars" >&2
  fi
  echo "$file"
}

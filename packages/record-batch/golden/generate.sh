#!/bin/sh
# Makes the golden data anew. Needs a JDK of 17 or later, Maven, and the lz4 command (1.9.4 was used).
set -eu
cd "$(dirname "$0")"
mkdir -p captures
mvn -q compile exec:java -Dexec.mainClass=Main -Dexec.args="generate captures"

# LZ4 frames of the reference implementation: linked blocks and every checksum, which Kafka's own writer lacks.
# The content is 100 KB and more, so that a second block of 64 KiB follows the first.
content() {
  seq -f 'line %g of a text that repeats itself' 1 2500
}
frame() {
  content | lz4 -z -c "$@" | base64 | tr -d '\n'
}
{
  echo '['
  printf '{"name":"independent","bytes":"%s"},\n' "$(frame -B4 -BI --no-frame-crc)"
  printf '{"name":"linked","bytes":"%s"},\n' "$(frame -B4 -BD --no-frame-crc)"
  printf '{"name":"linked with content checksum","bytes":"%s"},\n' "$(frame -B4 -BD)"
  printf '{"name":"independent with block checksums","bytes":"%s"},\n' "$(frame -B4 -BI -BX)"
  printf '{"name":"linked with block checksums","bytes":"%s"},\n' "$(frame -B4 -BD -BX)"
  content > captures/content.tmp
  printf '{"name":"with content size","bytes":"%s"},\n' "$(lz4 -z -c -B4 -BI --content-size captures/content.tmp | base64 | tr -d '\n')"
  rm captures/content.tmp
  printf '{"name":"blocks of 4 MiB","bytes":"%s"}\n' "$(frame -B7 -BI)"
  echo ']'
} > captures/lz4-frames.json

#!/bin/sh
# Installs, builds, lints, and runs every test that needs nothing but Node.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
PATH="$PWD/node_modules/.bin:$PATH"
biome check .
sh scripts/vitest-again.sh "$@"

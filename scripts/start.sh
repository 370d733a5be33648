#!/bin/sh
# Installs, builds, and serves on the embedded default: SQLite and a folder, both under ./data. Arguments go to `pico serve`.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
exec node_modules/.bin/pico serve "$@"

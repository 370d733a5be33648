#!/bin/sh
# Five minutes of faults under three nodes, one every 15 s, with the times that nodes have by default. E2E_CHAOS_SEED: the seed that a run
# printed, for its faults again. Arguments go to vitest.
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
PATH="$PWD/node_modules/.bin:$PATH"
cd e2e
E2E_CHAOS_SECONDS=${E2E_CHAOS_SECONDS:-300}
E2E_CHAOS_EVERY_SECONDS=${E2E_CHAOS_EVERY_SECONDS:-15}
E2E_CHAOS_NODE_TTL_MS=${E2E_CHAOS_NODE_TTL_MS:-10000}
export E2E_CHAOS_SECONDS E2E_CHAOS_EVERY_SECONDS E2E_CHAOS_NODE_TTL_MS
node --conditions=@pico/source src/prepare-tools.ts
exec vitest run test/chaos.test.ts "$@"

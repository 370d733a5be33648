#!/bin/sh
# Installs every dependency and builds every package. Needs only Node and npm: pnpm and our own Node come from npm.
set -eu
cd "$(dirname "$0")/.."
pnpm_version=$(sed -n 's/.*"packageManager": "pnpm@\([^"]*\)".*/\1/p' package.json)
npx -y "pnpm@$pnpm_version" install --frozen-lockfile
npx -y "pnpm@$pnpm_version" run build

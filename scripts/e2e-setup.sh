#!/bin/sh
# What the end-to-end tests need from the system. Jars and Python packages they fetch themselves, into e2e/.cache.
set -eu
missing=''
command -v kcat >/dev/null || missing="$missing kcat"
command -v unzip >/dev/null || missing="$missing unzip"
command -v mvn >/dev/null || missing="$missing maven"
command -v javac >/dev/null || missing="$missing openjdk-17-jdk-headless"
command -v go >/dev/null || missing="$missing golang-go"
command -v python3 >/dev/null || missing="$missing python3-venv"
[ -z "$missing" ] && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
  echo "these are needed:$missing" >&2
  exit 1
fi
apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $missing

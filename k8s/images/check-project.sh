#!/usr/bin/env bash
# check-project.sh [TOOL...]: says what to do first if the project is not installed or a tool is missing. Its own Node comes with
# the installation: another one must neither make keys nor give an image its version.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
for tool in "$@"; do
  command -v "$tool" > /dev/null || { echo "$tool is missing: install it first" >&2; exit 1; }
done
[ -x "$root/node_modules/.bin/node" ] || { echo "the project is not installed: run 'npm ci' in $root first" >&2; exit 1; }

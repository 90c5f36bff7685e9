#!/bin/sh
# Builds centrifugo 5.4.9 to .cache/centrifugo, by Go's module proxy: about three minutes of CPU.
set -eu
version=v5.4.9
cache="$(cd "$(dirname "$0")/../../../../.." && pwd)/.cache"
work="$(mktemp -d)"
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
mkdir -p "$cache"
cd "$work"
go mod init build
source="$(go mod download -json "github.com/centrifugal/centrifugo/v5@$version" | sed -n 's/^.*"Dir": "\(.*\)",$/\1/p')"
cp -r "$source" source
chmod -R u+w source
cd source
CGO_ENABLED=0 go build -trimpath -o "$cache/centrifugo" .

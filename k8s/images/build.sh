#!/usr/bin/env bash
# build.sh REGISTRY[/PREFIX] [TAG] [--push] [--insecure]: builds all images with buildah and no public registry, as
# REGISTRY[/PREFIX]/auth-account/NAME:TAG (TAG: dev unless given), and prints their sizes. Variables: build-image.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
options=() words=()
for word in "$@"; do
  case $word in --*) options+=("$word") ;; *) words+=("$word") ;; esac
done
prefix=${words[0]:?REGISTRY[/PREFIX] is missing} tag=${words[1]:-dev}

for name in api push-gateway worker authctl dev-mongodb dev-redis; do
  started=$SECONDS image=$prefix/auth-account/$name:$tag
  "$here/build-image.sh" "$name" "$image" "${options[@]}" 2> "${TMPDIR:-/tmp}/build-$name.log" \
    || { cat "${TMPDIR:-/tmp}/build-$name.log" >&2; exit 1; }
  printf '%s  %s  %d s\n' "$image" "$(buildah images --format '{{.Size}}' "$image")" $((SECONDS - started))
done

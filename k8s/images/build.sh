#!/usr/bin/env bash
# build.sh REGISTRY[/PREFIX] [TAG [NAME...]] [--push] [--insecure]: builds the images (all, or those of these names) with buildah and
# no public registry, as REGISTRY[/PREFIX]/auth-account/NAME:TAG (TAG: dev unless given), and prints their sizes. Two at a time, once
# the first has made what all are based on. Variables: build-image.sh.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
options=() words=()
for word in "$@"; do
  case $word in --*) options+=("$word") ;; *) words+=("$word") ;; esac
done
prefix=${words[0]:?REGISTRY[/PREFIX] is missing} tag=${words[1]:-dev}
names=("${words[@]:2}")
"$here/check-project.sh" buildah
[ ${#names[@]} -gt 0 ] || names=(api push-gateway worker console authctl dev-mongodb dev-redis)

build() {
  local name=$1 started=$SECONDS image=$prefix/auth-account/$1:$tag
  local log=${TMPDIR:-/tmp}/build-$name.log
  "$here/build-image.sh" "$name" "$image" "${options[@]}" 2> "$log" || { cat "$log" >&2; return 1; }
  printf '%s  %s  %d s\n' "$image" "$(buildah images --format '{{.Size}}' "$image")" $((SECONDS - started))
}

build "${names[0]}"
for ((next = 1; next < ${#names[@]}; next += 2)); do
  build "${names[next]}" & first=$!
  second=
  if [ $((next + 1)) -lt ${#names[@]} ]; then build "${names[next + 1]}" & second=$!; fi
  failed=
  wait "$first" || failed=yes
  [ -z "$second" ] || wait "$second" || failed=yes
  [ -z "$failed" ] || exit 1
done

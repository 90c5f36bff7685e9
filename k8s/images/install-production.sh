#!/bin/sh
# install-production.sh WORKSPACE ARCH: run by services/Dockerfile in a directory that holds the manifests of all
# workspaces. Installs what this one needs at run time on Linux (glibc) of this architecture, as Docker names it, and
# removes what no container reads: other platforms' binaries, type declarations, source maps.
set -eu
workspace=$1
case $2 in
  amd64) cpu=x64 argon2=argon2.glibc.node ;;
  arm64) cpu=arm64 argon2=argon2.armv8.glibc.node ;;
  *) echo "No image for the architecture $2: uWebSockets.js comes for amd64 and arm64" >&2 && exit 1 ;;
esac

if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi
npm ci --omit=dev --ignore-scripts --workspace "$workspace" --os=linux --cpu="$cpu" --libc=glibc --no-progress

# A tag or commit of uWebSockets.js itself, in place of the repack; UWS_SOURCE is for mirrors.
if [ -n "${UWS_RELEASE:-}" ]; then
  archive=$(npm pack --silent "${UWS_SOURCE:-https://codeload.github.com/uNetworking/uWebSockets.js/tar.gz}/$UWS_RELEASE")
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

find node_modules services -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

# What is left of the other workspaces are manifests, which only npm reads.
for manifest in libs/*/package.json services/*/package.json test/package.json; do
  directory=$(dirname "$manifest")
  linked=$(find node_modules/@auth-account -type l -exec readlink -f {} + | grep -cx "$PWD/$directory" || true)
  [ "$linked" -gt 0 ] || rm -rf "$directory"
done
rm -rf node_modules/.package-lock.json package-lock.json .npmrc

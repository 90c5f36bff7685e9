#!/usr/bin/env bash
# make-node-image.sh NAME ARCHITECTURE: a stand-in for node:22-bookworm-slim as a buildah image of this name: Debian 12
# by debootstrap, from the mirror that this machine's apt uses, the Node of the version in node_modules, and npm, from
# npm's registry. Needs root, buildah and debootstrap; for another architecture than this machine's also
# qemu-user-static, by which the kernel runs its programs. The image's own apt has no sources.
set -euo pipefail
name=$1 architecture=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

uris=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null || true)
mirror=$(grep -v -- -security <<< "$uris" | head -n 1 || true)
security=$(grep -- -security <<< "$uris" | head -n 1 || true)
# Without a mirror debootstrap takes Debian's own.
debootstrap --arch="$architecture" --variant=minbase --include=tini,binutils bookworm "$work/root" ${mirror:+"$mirror"} > "$work/log" \
  || { tail -n 20 "$work/log" >&2; exit 1; }
# Security updates, where this machine knows a source of them; from within the image it may be out of reach.
if [ -n "$security" ]; then
  echo "deb $security bookworm-security main" > "$work/root/etc/apt/sources.list"
  chroot "$work/root" sh -c 'apt-get update -qq && apt-get upgrade -qq -y && apt-get clean' >> "$work/log" 2>&1 \
    || { tail -n 20 "$work/log" >&2; exit 1; }
fi
: > "$work/root/etc/apt/sources.list"
# What Debian's and Node's slim images leave out as well.
rm -rf "$work"/root/{var/lib/apt/lists,var/cache/apt,var/log,usr/share/{man,info,locale,doc-base,lintian}}/* "$work/root/etc/resolv.conf"
find "$work/root/usr/share/doc" -type f ! -name copyright -delete

if [ "$architecture" = "$(dpkg --print-architecture)" ]; then
  install -D "$root/node_modules/node-linux-$(node -p process.arch)/bin/node" "$work/root/usr/local/bin/node"
else
  # Node's name of the architecture differs from Debian's for amd64 alone.
  (cd "$work" && npm pack --silent "node-linux-${architecture/amd64/x64}@$(node -p process.versions.node)" > /dev/null \
    && tar -xzf node-linux-*.tgz && rm node-linux-*.tgz)
  install -D "$work/package/bin/node" "$work/root/usr/local/bin/node"
fi
(cd "$work" && npm pack --silent "npm@$(npm --version)" > /dev/null)
mkdir -p "$work/root/usr/local/lib/node_modules/npm"
tar -xzf "$work"/npm-*.tgz --strip-components=1 -C "$work/root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/root/usr/local/bin/npm"

container=$(buildah from --arch "$architecture" scratch)
buildah add --quiet "$container" "$work/root" / > /dev/null
buildah config --arch "$architecture" --cmd node --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
buildah commit --quiet --rm "$container" "$name" > /dev/null

#!/usr/bin/env bash
# make-node-image.sh NAME: a stand-in for node:22-bookworm-slim as a buildah image of this name: Debian 12 by
# debootstrap, from the mirror that this machine's apt uses, the Node of node_modules, and npm from npm's registry.
# Needs root, buildah and debootstrap. The image's own apt names Debian's public mirror.
set -euo pipefail
name=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -v -- -security | head -n 1 || true)
debootstrap --variant=minbase --include=tini bookworm "$work/root" "${mirror:-http://deb.debian.org/debian}" > "$work/log" \
  || { tail -n 20 "$work/log" >&2; exit 1; }
# Security updates, from where this machine has them, which may be out of reach of the image.
security=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -- -security | head -n 1 || true)
echo "deb ${security:-http://deb.debian.org/debian-security} bookworm-security main" > "$work/root/etc/apt/sources.list"
chroot "$work/root" sh -c 'apt-get update -qq && apt-get upgrade -qq -y && apt-get clean' >> "$work/log" 2>&1 \
  || { tail -n 20 "$work/log" >&2; exit 1; }
printf 'deb http://deb.debian.org/%s main\n' 'debian bookworm' 'debian-security bookworm-security' > "$work/root/etc/apt/sources.list"
# What Debian's and Node's slim images leave out as well.
rm -rf "$work"/root/{var/lib/apt/lists,var/cache/apt,var/log,usr/share/{man,info,locale,doc-base,lintian}}/* "$work/root/etc/resolv.conf"
find "$work/root/usr/share/doc" -type f ! -name copyright -delete

install -D "$root/node_modules/node-linux-$(node -p process.arch)/bin/node" "$work/root/usr/local/bin/node"
(cd "$work" && npm pack --silent "npm@$(npm --version)" > /dev/null)
mkdir -p "$work/root/usr/local/lib/node_modules/npm"
tar -xzf "$work"/npm-*.tgz --strip-components=1 -C "$work/root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/root/usr/local/bin/npm"

container=$(buildah from scratch)
buildah add --quiet "$container" "$work/root" / > /dev/null
buildah config --cmd node --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$container"
buildah commit --quiet --rm "$container" "$name" > /dev/null

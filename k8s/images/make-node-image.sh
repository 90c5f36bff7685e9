#!/usr/bin/env bash
# make-node-image.sh NAME ARCHITECTURE VERSION: a stand-in for node:VERSION-bookworm-slim as a buildah image of this name:
# Debian 12 by debootstrap, from the mirror that this machine's apt uses, Node from npm's registry with the integrity that
# the lock file has, and npm. Debian alone is kept as an image for the other version, for a month. Needs root, buildah and
# debootstrap; for another architecture than this machine's also qemu-user-static, by which the kernel runs its programs.
# The image's own apt has no sources.
set -euo pipefail
name=$1 architecture=$2 version=$3
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
debian=localhost/auth-account/debian-build-$architecture:bookworm-$(date +%Y%m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

commit() { # CONTAINER IMAGE: of the files in $work/root
  buildah add --quiet "$1" "$work/root" / > /dev/null
  buildah config --arch "$architecture" --cmd node --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$1"
  buildah commit --quiet --rm "$1" "$2" > /dev/null
  rm -rf "$work/root"
}

make_debian() {
  local uris mirror security
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
  commit "$(buildah from --arch "$architecture" scratch)" "$debian"
}

buildah inspect --type image "$debian" > /dev/null 2>&1 || make_debian

fetch() { # PACKAGE DIRECTORY; sets `integrity` to that of its archive
  local archive
  archive=$(cd "$work" && npm pack --loglevel=error "$1" 2>> "$work/log") || { tail -n 20 "$work/log" >&2; exit 1; }
  integrity=sha512-$(node -p "crypto.createHash('sha512').update(fs.readFileSync('$work/$archive')).digest('base64')")
  mkdir -p "$2"
  tar -xzf "$work/$archive" --strip-components=1 -C "$2"
}

# Node's name of the architecture differs from Debian's for amd64 alone.
package=node-linux-${architecture/amd64/x64}
fetch "$package@$version" "$work/node"
locked=$(node -p "Object.entries(require('$root/package-lock.json').packages)
  .find(([path, { version }]) => path.endsWith('node_modules/$package') && version === '$version')?.[1].integrity")
[ "$integrity" = "$locked" ] || { echo "$package@$version has $integrity, and package-lock.json $locked" >&2; exit 1; }
install -D "$work/node/bin/node" "$work/root/usr/local/bin/node"
fetch "npm@$(npm --version)" "$work/root/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/root/usr/local/bin/npm"
commit "$(buildah from --arch "$architecture" --pull-never "$debian")" "$name"

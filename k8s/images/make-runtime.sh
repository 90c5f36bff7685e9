#!/bin/sh
# make-runtime.sh ROOT: run by services/Dockerfile in the base image. Puts into ROOT what a service needs of it: Node,
# tini, and the shared libraries of both. No shell, no package manager. The names
# and versions of the Debian packages are where scanners look for them in an image without dpkg.
set -eu
root=$1
mkdir -p "$root/usr/bin" "$root/usr/local/bin" "$root/usr/lib" "$root/usr/lib64" "$root/etc" "$root/tmp" "$root/var/lib/dpkg/status.d"
ln -s usr/lib "$root/lib"
ln -s usr/lib64 "$root/lib64"
ln -s usr/bin "$root/bin"
chmod 1777 "$root/tmp"

node=$(command -v node)
# Without its symbols: 18 MB. Stacks of JavaScript stay whole; native frames of a crash lose their names.
strip -o "$root/usr/local/bin/node" "$node"
cp --dereference /usr/bin/tini "$root/usr/bin/tini"

libraries=$(ldd "$node" /usr/bin/tini | grep -o '/[^ ]*' | grep -v ':$' | sort -u)
# Parts of glibc that native packages name.
directory=$(dirname "$(echo "$libraries" | grep '/libc[.]so')")
libraries="$libraries $directory/librt.so.1 $directory/libutil.so.1 $directory/libresolv.so.2"
for library in $libraries; do
  mkdir -p "$root$(dirname "$library")"
  cp --dereference "$library" "$root$library"
done

printf 'root:x:0:0:root:/:/sbin/nologin\nauth:x:10001:10001:auth-account:/app:/sbin/nologin\n' > "$root/etc/passwd"
printf 'root:x:0:\nauth:x:10001:\n' > "$root/etc/group"
printf 'hosts: files dns\n' > "$root/etc/nsswitch.conf"
cp /etc/os-release /etc/debian_version "$root/etc/"

for file in $libraries /usr/bin/tini; do
  # dpkg knows a library by its path of before the merge of /usr, or after it.
  dpkg-query --search "$file" "/usr$file" "${file#/usr}" "$(readlink -f "$file")" 2> /dev/null || true
done | sed 's/:.*//' | sort -u | while read -r package; do
  dpkg-query --status "$package" > "$root/var/lib/dpkg/status.d/$package"
  mkdir -p "$root/usr/share/doc/$package"
  cp --dereference "/usr/share/doc/$package/copyright" "$root/usr/share/doc/$package/" 2> /dev/null || true
done

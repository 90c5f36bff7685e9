#!/usr/bin/env bash
# Installs Debian's packages of the programs that tests, checks and the cluster test need, at once, if this is root on
# Debian. It needs neither Node nor the project's packages, so it may run beside their installation. Exits with 0 even if
# a program is missing afterwards: what needs it then tries to get it, or says so.
set -u
missing=()
need() { # need PACKAGE PROGRAM…: installs the package if there is none of the programs
  local package=$1 program
  shift
  for program in "$@"; do command -v "$program" > /dev/null && return; done
  missing+=("$package")
}
need chromium-headless-shell "${CHROMIUM_PATH:-}" /usr/bin/chromium-headless-shell
need redis-server "${LOCAL_REDIS_SERVER:-}" redis-server valkey-server
need prometheus promtool
compgen -G '/usr/lib/*/faketime/libfaketime.so.1' > /dev/null || missing+=(libfaketime)
# The cluster test's, if it finds a cluster (test/tools/cluster/run-in-ci.sh).
if [ -z "${KUBECONFIG:-}" ] && [ -x "${CLUSTER_LAB:-}/up" ]; then
  need buildah buildah
  need debootstrap debootstrap
  need kubernetes-client kubectl
fi
[ ${#missing[@]} -gt 0 ] || exit 0
# Ubuntu's package "chromium" only installs a snap.
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null || ! grep -q '^ID=debian' /etc/os-release; then
  echo "Not installed, as this is not root on Debian: ${missing[*]}" >&2
  exit 0
fi
# No daemon of a package starts (invoke-rc.d(8)).
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' > $policy && chmod +x $policy
fi
export DEBIAN_FRONTEND=noninteractive
options=(-qq --yes --no-install-recommends -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
log=$(mktemp)
if ! { timeout 120 apt-get update -qq && timeout 300 apt-get install "${options[@]}" "${missing[@]}"; } > "$log" 2>&1; then
  echo "Not installed: ${missing[*]}" >&2
  tail -n 5 "$log" >&2
fi
rm -f "$log"

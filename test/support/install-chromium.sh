#!/usr/bin/env bash
# Installs Debian's Chromium for the tests in a browser, if there is none and this is root on Debian. It needs neither
# Node nor the project's packages, so it may run beside their installation. Exits with 0 even if there is no Chromium
# afterwards: then the tests in a browser say so.
set -u
for program in "${CHROMIUM_PATH:-}" /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; do
  if [ -x "$program" ]; then exit 0; fi
done
# Ubuntu's package "chromium" only installs a snap.
if [ "$(id -u)" != 0 ] || ! command -v apt-get > /dev/null || ! grep -q '^ID=debian' /etc/os-release; then
  echo 'Chromium is not installed: this is not root on Debian' >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
options=(-qq --yes --no-install-recommends -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
log=$(mktemp)
if ! { timeout 120 apt-get update -qq && timeout 300 apt-get install "${options[@]}" chromium; } > "$log" 2>&1; then
  echo 'Chromium is not installed:' >&2
  tail -n 5 "$log" >&2
fi
rm -f "$log"

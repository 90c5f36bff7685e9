#!/bin/sh
# install-for-bundles.sh SERVICE...: run by services/Dockerfile in a directory that holds the manifests of all workspaces.
# Installs what bundling these services takes, for the platform of the build.
set -eu
if [ -s /run/secrets/ca ]; then export NODE_EXTRA_CA_CERTS=/run/secrets/ca; fi
# shellcheck disable=SC2046
npm ci --omit=dev --ignore-scripts --no-progress --workspace libs/bundle $(printf -- '--workspace services/%s ' "$@")

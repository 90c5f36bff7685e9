#!/usr/bin/env bash
# skaffold-build.sh NAME: what skaffold's profile buildah calls. IMAGE and PUSH_IMAGE come from skaffold; INSECURE=1 is for a
# registry over HTTP, as skaffold's --insecure-registry.
set -euo pipefail
options=()
[ "${PUSH_IMAGE:-}" != true ] || options+=(--push)
[ -z "${INSECURE:-}" ] || options+=(--insecure)
exec "$(dirname "${BASH_SOURCE[0]}")/build-image.sh" "$1" "$IMAGE" "${options[@]}"

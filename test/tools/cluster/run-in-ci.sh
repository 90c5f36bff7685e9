#!/usr/bin/env bash
# run-in-ci.sh OUTPUT [--long …] [--after FILE]: `npm run test:cluster`, its short form unless asked otherwise, if there is a cluster: the one that
# KUBECONFIG names (CLUSTER_REGISTRY names its registry), or the lab in the folder CLUSTER_LAB, which is started if it is not running
# and ended again. The long form also takes the lab's proxy and operators. Without a cluster it prints that the test is left
# out, and writes no OUTPUT.
set -euo pipefail
output=$1
shift
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
lab=${CLUSTER_LAB:-}
limit=3600 # seconds, for a wait too; what it has started it removes after that, within three minutes
parts=
case " $* " in *' --long '*) limit=5400 parts='traefik monitoring keda' ;; esac

# The lab's own variables: its programs, its kubeconfig, its registry.
use_lab() {
  local variables
  # shellcheck disable=SC1091
  variables=$(. "$lab/env" && printf 'BIN=%q KCFG=%q REGISTRY=%q NODE_IP=%q CACHE=%q' "$BIN" "$KCFG" "$REGISTRY" "$NODE_IP" "$CACHE")
  eval "local $variables"
  # shellcheck disable=SC1091
  if ! (. "$lab/env" && lab_alive); then
    started=yes
    export KUBE_LAB_METRICS=1 KUBE_LAB_PARTS=$parts
    # A machine that is busy with other tests may exceed the lab's own limits; the second time it goes on from there.
    "$lab/up" || "$lab/up"
    export KEEP=1 # the namespace ends with the lab
  fi
  export PATH="$BIN:$PATH" KUBECONFIG="$KCFG" CLUSTER_REGISTRY="$REGISTRY" CLUSTER_REGISTRY_INSECURE=1
  [ -z "$parts" ] || allow_empty_services
  [ -z "$parts" ] || export CLUSTER_INGRESS_DOMAIN=lab.test CLUSTER_INGRESS_ADDRESS="$NODE_IP" CLUSTER_INGRESS_CA="$CACHE/ca.crt" CLUSTER_PROMETHEUS=monitoring/prometheus:9090
}

# Without it Traefik answers 404 by an Ingress whose pods are all unready (docs/operations.md).
allow_empty_services() {
  local flag=--providers.kubernetesingress.allowemptyservices=true
  kubectl -n traefik get deployment traefik -o yaml | grep -q -e "$flag" && return
  kubectl -n traefik patch deployment traefik --type=json \
    -p "[{\"op\":\"add\",\"path\":\"/spec/template/spec/containers/0/args/-\",\"value\":\"$flag\"}]"
  kubectl -n traefik rollout status deployment traefik --timeout=60s
}

started=
end() { [ -z "$started" ] || "$lab/down"; }
trap end EXIT

if [ -z "${KUBECONFIG:-}" ]; then
  if [ ! -x "$lab/up" ]; then
    echo 'LEFT OUT: the cluster test, as KUBECONFIG is not set'
    exit 0
  fi
  for tool in buildah debootstrap kubectl; do
    command -v "$tool" > /dev/null || { test/tools/ci/install-packages.sh; break; }
  done
  use_lab
else
  [ -n "${CLUSTER_REGISTRY:-}" ] || { echo 'Cluster: KUBECONFIG is set, but CLUSTER_REGISTRY does not name its registry' >&2; exit 1; }
  for tool in helm kubectl buildah debootstrap; do
    command -v "$tool" > /dev/null || { echo "Cluster: KUBECONFIG is set, but $tool is missing" >&2; exit 1; }
  done
fi
timeout --kill-after=180 "$limit" npm run --silent test:cluster -- --output "$output" "$@"

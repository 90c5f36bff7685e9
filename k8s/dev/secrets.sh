#!/usr/bin/env bash
# secrets.sh NAMESPACE: makes the Secrets that k8s/dev and the chart's development values name, with random values and
# new keys; the namespace too if it is missing. What is there stays as it is, but for the ConfigMap with the public keys, which
# follows the keys. Needs kubectl and the installed project (`npm ci`).
set -euo pipefail
namespace=${1:?NAMESPACE is missing}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
"$root/k8s/images/check-project.sh" kubectl
export PATH="$root/node_modules/.bin:$PATH"
umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

k() { kubectl --namespace "$namespace" "$@"; }
# Stops if the cluster does not answer: a Secret that is there must not count as missing.
has() {
  local found
  found=$(k get secret "$1" --ignore-not-found --output name) || exit 1
  [ -n "$found" ]
}
value() { k get secret "$1" --output "go-template={{index .data \"$2\" | base64decode}}"; }
authctl() { node "$root/services/authctl/src/main.ts" "$@"; }
random() { head --bytes 24 /dev/urandom | base64 | tr '+/' '-_'; }
# make SECRET KEY=TEXT…: by files, so that no secret stands in a process's arguments.
make() {
  local secret=$1 pair files=()
  shift
  for pair in "$@"; do
    printf '%s' "${pair#*=}" > "$work/${pair%%=*}"
    files+=("--from-file=$work/${pair%%=*}")
  done
  k create secret generic "$secret" "${files[@]}"
}

existing=$(kubectl get namespace "$namespace" --ignore-not-found --output name)
if [ -z "$existing" ]; then
  kubectl create namespace "$namespace"
  kubectl label namespace "$namespace" pod-security.kubernetes.io/enforce=restricted
fi

has mongodb || make mongodb "keyfile=$(head --bytes 512 /dev/urandom | base64 --wrap 0)" \
  "root-password=$(random)" "auth-password=$(random)"
if ! has auth-mongodb; then
  password=$(value mongodb auth-password)
  make auth-mongodb "uri=mongodb://auth:$password@mongodb-0.mongodb.$namespace.svc:27017/?replicaSet=rs0&authSource=admin"
fi

if ! has redis; then
  admin=$(random) auth=$(random) messages=$(random)
  # The last user may publish messages to apps and nothing else: docs/push.md.
  make redis "admin-password=$admin" "auth-password=$auth" "messages-password=$messages" "users.acl=$(
    printf 'user default off\n'
    printf 'user admin on #%s ~* &* +@all\n' "$(printf %s "$admin" | sha256sum | cut -d ' ' -f 1)"
    printf 'user auth on #%s ~* &* +@all -flushall -flushdb -shutdown -debug -acl -replicaof -failover -module -config +config|get\n' \
      "$(printf %s "$auth" | sha256sum | cut -d ' ' -f 1)"
    printf 'user messages on #%s resetkeys resetchannels &{auth}:messages -@all +publish +ping +info\n' \
      "$(printf %s "$messages" | sha256sum | cut -d ' ' -f 1)"
  )"
fi
if ! has auth-redis; then
  password=$(value redis auth-password)
  make auth-redis "url=redis://auth:$password@redis.$namespace.svc:6379"
fi

if ! has auth-keys; then
  for kind in access refresh server; do
    case $kind in server) name=server-keys.json ;; *) name=$kind-token-keys.json ;; esac
    authctl keys generate "$kind" --file "$work/$name" > /dev/null
  done
  k create secret generic auth-keys --from-file="$work/access-token-keys.json" \
    --from-file="$work/refresh-token-keys.json" --from-file="$work/server-keys.json"
fi
# The push gateway's: it refuses a file with a private key.
value auth-keys access-token-keys.json > "$work/private.json"
authctl keys public --file "$work/private.json" > "$work/public.json"
k create configmap auth-public-keys --from-file="access-token-keys.json=$work/public.json" --dry-run=client --output yaml |
  k apply --filename -
has auth-subscribers || make auth-subscribers 'subscribers.json=[]'

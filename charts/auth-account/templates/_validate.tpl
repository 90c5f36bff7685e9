{{/* What values.schema.json cannot say of the values. Every fault ends the rendering with what to do. */}}
{{- define "auth-account.validate" -}}
{{- $v := .Values }}
{{- /* Not `kubeVersion` of Chart.yaml: a Helm built from its module takes every cluster that it cannot ask for a 1.20, so
  that `helm template` and what is built on it (Skaffold) would refuse. `lookup` finds something only in a real cluster. */}}
{{- if and (semverCompare "<1.30.0-0" .Capabilities.KubeVersion.Version) (lookup "v1" "ServiceAccount" .Release.Namespace "default") }}
{{- fail (printf "Kubernetes 1.30 or later is required (the kubelet's own preStop sleep); this is %s" .Capabilities.KubeVersion.Version) }}
{{- end }}
{{- if $v.pushGateway.enabled }}
{{- $_ := include "auth-account.publicKeys" . }}
{{- end }}
{{- if $v.console.enabled }}
{{- $_ := include "auth-account.checkConsole" . }}
{{- end }}
{{- range $key := list "api" "pushGateway" "worker" "console" }}
{{- $values := get $v $key }}
{{- if $values.pdb.enabled }}
{{- $scaled := eq $key "worker" | ternary $v.keda (default dict $values.autoscaling) }}
{{- $pods := default false $scaled.enabled | ternary $scaled.minReplicas $values.replicas | int }}
{{- $_ := include "auth-account.checkPdb" (dict "key" $key "pdb" $values.pdb "pods" $pods) }}
{{- end }}
{{- end }}
{{- $isApiKnown := or $v.api.enabled $v.probe.apiUrl }}
{{- $isPushKnown := or $v.pushGateway.enabled $v.probe.pushUrl $v.probe.apiUrl }}
{{- if and $v.probe.enabled (not (and $isApiKnown $isPushKnown)) }}
{{- fail "probe.enabled: api or pushGateway is off, so the canary has nothing to call: set probe.apiUrl and probe.pushUrl" }}
{{- end }}
{{- if and $v.podMonitor.enabled $v.serviceMonitor.enabled }}
{{- fail "podMonitor and serviceMonitor are both enabled: every pod would be scraped twice" }}
{{- end }}
{{- if and $v.ingress.enabled (not $v.ingress.host) }}
{{- fail "ingress.host is required where ingress.enabled is true" }}
{{- end }}
{{- if $v.httpRoute.enabled }}
{{- if not $v.httpRoute.parentRefs }}
{{- fail "httpRoute.parentRefs is required where httpRoute.enabled is true: the Gateways that the routes belong to" }}
{{- end }}
{{- $hosts := default $v.httpRoute.hostnames $v.httpRoute.pushHostnames }}
{{- if and (not $v.ingress.enabled) (not (or (hasKey $v.api.config "PUSH_PUBLIC_URL") (hasKey $v.config "PUSH_PUBLIC_URL"))) (or (not $hosts) (hasPrefix "*" (first $hosts | default "*"))) }}
{{- fail "httpRoute.hostnames does not say where apps reach the streams: put a full name first, or set api.config.PUSH_PUBLIC_URL" }}
{{- end }}
{{- end }}
{{- if and $v.keda.enabled (not $v.keda.triggers) (not $v.keda.prometheus.serverAddress) }}
{{- fail "keda.prometheus.serverAddress is required where keda.enabled is true and keda.triggers is empty" }}
{{- end }}
{{- end }}

{{/*
Seconds after which a rollout counts as failed. Kubernetes counts anew with each pod that comes, so this is for one pod: its
start, with the migrations where it runs them, its wait for older processes where it has one (600 s), and `minReadySeconds`, above which
Kubernetes wants it to be.
*/}}
{{- define "auth-account.progressDeadlineSeconds" -}}
{{- if kindIs "invalid" .values.progressDeadlineSeconds }}
{{- $migration := eq (include "auth-account.isMigratedInPod" .) "true" | ternary .root.Values.migrate.activeDeadlineSeconds 0 }}
{{- $wait := has .name (list "api" "worker") | ternary 600 0 }}
{{- add 600 (int64 .values.minReadySeconds) (int64 $migration) $wait }}
{{- else }}
{{- int64 .values.progressDeadlineSeconds }}
{{- end }}
{{- end }}

{{/*
How the tools' one pod is replaced: only once the new one runs. A bad image or an absent Secret thus leaves the former tool, when it
is needed most.
*/}}
{{- define "auth-account.toolRollout" -}}
minReadySeconds: 5
strategy:
  type: RollingUpdate
  rollingUpdate:
    maxUnavailable: 0
    maxSurge: 1
{{- end }}

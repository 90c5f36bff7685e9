{{/*
Seconds after which a rollout counts as failed. Kubernetes counts anew with each pod that comes, so this is for one pod: its
start, with the migrations where it runs them, and `minReadySeconds`, above which Kubernetes wants it to be.
*/}}
{{- define "auth-account.progressDeadlineSeconds" -}}
{{- if kindIs "invalid" .values.progressDeadlineSeconds }}
{{- $migration := eq (include "auth-account.isMigratedInPod" .) "true" | ternary .root.Values.migrate.activeDeadlineSeconds 0 }}
{{- add 600 (int64 .values.minReadySeconds) (int64 $migration) }}
{{- else }}
{{- int64 .values.progressDeadlineSeconds }}
{{- end }}
{{- end }}

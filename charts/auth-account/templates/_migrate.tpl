{{/* "true" where a component's pods run the migrations themselves. */}}
{{- define "auth-account.isMigratedInPod" -}}
{{- $migrate := .root.Values.migrate }}
{{- if and $migrate.enabled (eq $migrate.mode "initContainer") (has .name (list "api" "worker")) }}
{{- true }}
{{- end }}
{{- end }}

{{/*
The container that runs the migrations: the api's image. All its variables stand in it, since the Job runs before the release
has ConfigMaps. Idempotent, and safe when several run at once.
*/}}
{{- define "auth-account.migrateContainer" -}}
{{- $values := merge (dict "image" .Values.api.image) .Values.migrate }}
{{- $component := dict "root" . "name" "migrate" "values" $values -}}
- name: migrate
  {{- include "auth-account.containerBasics" $component | nindent 2 }}
  args: [node, services/api/dist/migrate.js]
  {{- with concat (fromYamlArray (include "auth-account.configEnv" $component)) (fromYamlArray (include "auth-account.fileEnv" $component)) $values.extraEnv }}
  env:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}

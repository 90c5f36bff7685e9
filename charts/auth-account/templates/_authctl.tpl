{{/* The component `authctl`: the canary's image, and the variables of the worker and the api: prefix, grace, subscribers. */}}
{{- define "auth-account.authctlValues" -}}
{{- $image := .Values.probe.image }}
{{- $config := mergeOverwrite (deepCopy .Values.worker.config) (deepCopy .Values.api.config) (deepCopy .Values.authctl.config) }}
{{- toYaml (mergeOverwrite (deepCopy .Values.authctl) (dict "image" $image "config" $config)) }}
{{- end }}

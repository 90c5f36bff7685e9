{{/* The component `authctl`: the canary's image, and the variables of the worker and the api: prefix, grace, subscribers. */}}
{{- define "auth-account.authctlValues" -}}
{{- $image := .Values.probe.image }}
{{- $config := mergeOverwrite (deepCopy .Values.worker.config) (deepCopy .Values.api.config) (deepCopy .Values.authctl.config) }}
{{- toYaml (mergeOverwrite (deepCopy .Values.authctl) (dict "image" $image "config" $config)) }}
{{- end }}

{{/*
Marks by which Helm knows its objects. Helm sets them itself; here they make `helm upgrade` take over what an operator applied by
`helm template` in an emergency, instead of refusing because it is there.
*/}}
{{- define "auth-account.ownership" -}}
meta.helm.sh/release-name: {{ .Release.Name }}
meta.helm.sh/release-namespace: {{ .Release.Namespace }}
{{- end }}

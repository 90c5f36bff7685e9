{{/* Labels that find a component's pods; they never change. */}}
{{- define "auth-account.selectorLabels" -}}
{{ include "auth-account.releaseLabels" .root }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{/* Labels that find all pods of the release. */}}
{{- define "auth-account.releaseLabels" -}}
app.kubernetes.io/name: {{ include "auth-account.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of a component's objects. */}}
{{- define "auth-account.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "auth-account.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels of a component's pods: without the chart's version, which would restart them for nothing. */}}
{{- define "auth-account.podLabels" -}}
{{ include "auth-account.selectorLabels" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | replace "+" "_" | trunc 63 | trimSuffix "-" | quote }}
{{- with mergeOverwrite (deepCopy .root.Values.commonLabels) (default dict .values.podLabels) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The line `annotations:` with those of all objects and those given; nothing where there are none. Takes a list: root, dict … */}}
{{- define "auth-account.annotations" -}}
{{- $all := deepCopy (first .).Values.commonAnnotations }}
{{- range rest . }}
{{- $all = mergeOverwrite $all (deepCopy .) }}
{{- end }}
{{- with $all }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

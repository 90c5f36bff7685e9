{{/* Name of the chart, as in the label app.kubernetes.io/name. */}}
{{- define "auth-account.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Beginning of all names. 48 characters leave room for the longest suffix and for what Kubernetes adds to pods. */}}
{{- define "auth-account.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 48 | trimSuffix "-" }}
{{- else }}
{{- $name := include "auth-account.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 48 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 48 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{/* Name of a component's resources. Takes a component: dict "root" $ "name" "api" "values" .Values.api */}}
{{- define "auth-account.componentName" -}}
{{- printf "%s-%s" (include "auth-account.fullname" .root) .name }}
{{- end }}

{{/* "true" where `helm test` has something to do: an api and a push gateway, of this release or at a given address. */}}
{{- define "auth-account.isTested" -}}
{{- $tests := .Values.tests }}
{{- if and $tests.enabled (or .Values.api.enabled $tests.apiUrl) (or .Values.pushGateway.enabled $tests.pushUrl $tests.apiUrl) }}
{{- true }}
{{- end }}
{{- end }}

{{/* Name of a component's ServiceAccount. */}}
{{- define "auth-account.serviceAccountName" -}}
{{- if .values.serviceAccount.name }}
{{- .values.serviceAccount.name }}
{{- else if .root.Values.serviceAccount.create }}
{{- include "auth-account.componentName" . }}
{{- else }}
{{- "default" }}
{{- end }}
{{- end }}

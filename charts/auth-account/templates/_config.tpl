{{/* A value as the text of a variable: numbers without an exponent, lists as JSON. */}}
{{- define "auth-account.configText" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) }}
{{- printf "%.0f" . }}
{{- else if or (kindIs "slice" .) (kindIs "map" .) }}
{{- toJson . }}
{{- else }}
{{- toString . }}
{{- end }}
{{- end }}

{{/* Variables of a component that are no secret, as the data of a ConfigMap: sorted, every value a text. */}}
{{- define "auth-account.config" -}}
{{- $config := deepCopy .root.Values.config }}
{{- range $name, $value := .values.config }}
{{- $_ := set $config $name $value }}
{{- end }}
{{- if eq .name "console" }}
{{- $config = merge $config (fromYaml (include "auth-account.consoleConfig" .)) }}
{{- end }}
{{- if eq .name "api" }}
{{- if not (hasKey $config "PUSH_PUBLIC_URL") }}
{{- $_ := set $config "PUSH_PUBLIC_URL" (include "auth-account.publicPushUrl" .root) }}
{{- end }}
{{- end }}
{{- if and (has .name (list "api" "push-gateway")) (not (hasKey $config "TRUST_PROXY_HOPS")) }}
{{- /* The same proxies lead to both. */}}
{{- if hasKey .root.Values.api.config "TRUST_PROXY_HOPS" }}
{{- $_ := set $config "TRUST_PROXY_HOPS" .root.Values.api.config.TRUST_PROXY_HOPS }}
{{- else if or .root.Values.ingress.enabled .root.Values.httpRoute.enabled }}
{{- $_ := set $config "TRUST_PROXY_HOPS" 1 }}
{{- end }}
{{- end }}
{{- if has .name (list "probe" "test") }}
{{- $_ := set $config "PROBE_API_URL" (default (include "auth-account.apiServiceUrl" .root) .values.apiUrl) }}
{{- /* With a public address of the api the login says where the streams are, as it does to an app. */}}
{{- with default (empty .values.apiUrl | ternary (include "auth-account.pushServiceUrl" .root) "") .values.pushUrl }}
{{- $_ := set $config "PROBE_PUSH_URL" . }}
{{- end }}
{{- end }}
{{- if eq .name "probe" }}
{{- with .values.mail.url }}
{{- $_ := set $config "PROBE_MAIL_URL" . }}
{{- end }}
{{- end }}
{{- if and .root.Values.tracing.endpoint (has .name (list "api" "push-gateway" "worker" "console")) }}
{{- $config = mergeOverwrite $config (fromYaml (include "auth-account.tracingConfig" .)) }}
{{- end }}
{{- range $name, $value := $config }}
{{- if not (kindIs "invalid" $value) }}
{{ $name }}: {{ include "auth-account.configText" $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{/* The same as entries of a container's `env`, for pods that run before the release has its ConfigMaps. */}}
{{- define "auth-account.configEnv" -}}
{{- range $name, $value := fromYaml (include "auth-account.config" .) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* OpenTelemetry's variables. */}}
{{- define "auth-account.tracingConfig" -}}
{{- with .root.Values.tracing -}}
OTEL_EXPORTER_OTLP_ENDPOINT: {{ .endpoint | quote }}
OTEL_EXPORTER_OTLP_PROTOCOL: {{ .protocol | quote }}
{{- if .sampler }}
OTEL_TRACES_SAMPLER: {{ .sampler | quote }}
OTEL_TRACES_SAMPLER_ARG: {{ .samplerArg | toString | quote }}
{{- end }}
{{- end }}
OTEL_SERVICE_NAME: auth-{{ .name }}
{{- end }}

{{/* Entries of `env` that name the pod in its traces. */}}
{{- define "auth-account.tracingEnv" -}}
{{- if .root.Values.tracing.endpoint }}
{{- $attributes := list (printf "k8s.namespace.name=%s" .root.Release.Namespace) "k8s.pod.name=$(POD_NAME)" }}
{{- $attributes = append $attributes (printf "service.version=%s" (include "auth-account.imageTag" (dict "root" .root "image" .values.image))) }}
{{- range $name, $value := .root.Values.tracing.resourceAttributes }}
{{- $attributes = append $attributes (printf "%s=%s" $name $value) }}
{{- end }}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: OTEL_RESOURCE_ATTRIBUTES
  value: {{ join "," $attributes | quote }}
{{- end }}
{{- end }}

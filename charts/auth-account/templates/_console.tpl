{{/* "true" where the console reads the processes' own metrics, as it knows no Prometheus. */}}
{{- define "auth-account.isScrapedByConsole" -}}
{{- $config := merge (deepCopy .Values.console.config) .Values.config }}
{{- if and .Values.console.enabled (not $config.CONSOLE_PROMETHEUS_URL) (not $config.CONSOLE_METRICS_URLS) }}
{{- true }}
{{- end }}
{{- end }}

{{/* Port of the metrics, which a name without an address of its own leads to. */}}
{{- define "auth-account.opsPort" -}}
{{- eq .name "api" | ternary 9080 9081 }}
{{- end }}

{{/* What the chart knows of the console's variables: its address, when deletions are due, and where metrics are. */}}
{{- define "auth-account.consoleConfig" -}}
{{- $v := .root.Values }}
{{- with $v.api.config.ACCOUNT_DELETION_GRACE_DAYS }}
ACCOUNT_DELETION_GRACE_DAYS: {{ . }}
{{- end }}
{{- if $v.console.ingress.enabled }}
CONSOLE_PUBLIC_URL: {{ printf "https://%s" $v.console.ingress.host | quote }}
TRUST_PROXY_HOPS: 1
{{- end }}
{{- if include "auth-account.isScrapedByConsole" .root }}
CONSOLE_METRICS_URLS:
  {{- range $name, $values := dict "api" $v.api "push-gateway" $v.pushGateway }}
  {{- if $values.enabled }}
  {{- $component := dict "root" $.root "name" $name }}
  - http://{{ include "auth-account.componentName" $component }}-ops.{{ $.root.Release.Namespace }}.svc:{{ include "auth-account.opsPort" $component }}/metrics
  {{- end }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Fails unless staff can sign in, and where the console would have a public host of the service. */}}
{{- define "auth-account.checkConsole" -}}
{{- $v := .Values }}
{{- $config := fromYaml (include "auth-account.config" (dict "root" . "name" "console" "values" $v.console)) }}
{{- if and $v.console.ingress.enabled (not $v.console.ingress.host) }}
{{- fail "console.ingress.host is required where console.ingress.enabled is true" }}
{{- end }}
{{- range list "CONSOLE_PUBLIC_URL" "CONSOLE_ISSUER" "CONSOLE_CLIENT_ID" "CONSOLE_ROLES" }}
{{- if not (get $config .) }}
{{- fail (printf "console.config.%s is required where console.enabled is true (docs/console.md)" .) }}
{{- end }}
{{- end }}
{{- $public := concat $v.httpRoute.hostnames $v.httpRoute.pushHostnames $v.httpRoute.passkeyHostnames }}
{{- $public = concat $public (list $v.ingress.host $v.ingress.pushHost $v.ingress.passkeyHost) | compact }}
{{- range list $v.console.ingress.host (get (urlParse $config.CONSOLE_PUBLIC_URL) "hostname") }}
{{- if has . $public }}
{{- fail (printf "console: %s is a host of the api or of the streams. Give the console a host of its own that only staff reach" .) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Address of a component's Service within the cluster. Takes a component and "scheme". */}}
{{- define "auth-account.serviceUrl" -}}
{{- $port := int .values.service.port }}
{{- printf "%s://%s.%s.svc%s" .scheme (include "auth-account.componentName" .) .root.Release.Namespace (eq $port 80 | ternary "" (printf ":%d" $port)) }}
{{- end }}

{{- define "auth-account.apiServiceUrl" -}}
{{- include "auth-account.serviceUrl" (dict "root" . "name" "api" "values" .Values.api "scheme" "http") }}
{{- end }}

{{- define "auth-account.pushServiceUrl" -}}
{{- include "auth-account.serviceUrl" (dict "root" . "name" "push-gateway" "values" .Values.pushGateway "scheme" "ws") }}
{{- end }}

{{/* Where apps reach the streams, as far as the chart knows; the Service where nothing leads in from outside. */}}
{{- define "auth-account.publicPushUrl" -}}
{{- $v := .Values }}
{{- $hosts := default $v.httpRoute.hostnames $v.httpRoute.pushHostnames }}
{{- if $v.ingress.enabled }}
{{- printf "%s://%s" ($v.ingress.tls.enabled | ternary "wss" "ws") (default $v.ingress.host $v.ingress.pushHost) }}
{{- else if and $v.httpRoute.enabled $hosts }}
{{- printf "%s://%s" ($v.httpRoute.tls | ternary "wss" "ws") (first $hosts) }}
{{- else }}
{{- include "auth-account.pushServiceUrl" . }}
{{- end }}
{{- end }}

{{/* Where apps reach the api, as far as the chart knows. */}}
{{- define "auth-account.publicApiUrl" -}}
{{- $v := .Values }}
{{- if $v.ingress.enabled }}
{{- printf "%s://%s" ($v.ingress.tls.enabled | ternary "https" "http") $v.ingress.host }}
{{- else if and $v.httpRoute.enabled $v.httpRoute.hostnames }}
{{- printf "%s://%s" ($v.httpRoute.tls | ternary "https" "http") (first $v.httpRoute.hostnames) }}
{{- else }}
{{- include "auth-account.apiServiceUrl" . }}
{{- end }}
{{- end }}

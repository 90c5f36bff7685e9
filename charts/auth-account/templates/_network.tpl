{{/* Ports of a rule. Takes a list of numbers or names; an empty one means every port. */}}
{{- define "auth-account.networkPorts" -}}
{{- with . -}}
ports:
  {{- range . }}
  - protocol: TCP
    port: {{ kindIs "string" . | ternary . (int .) }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Rules for what a component's pods may reach. Takes a component and "reaches", a list of: mongodb, redis, tracing. */}}
{{- define "auth-account.egress" -}}
{{- $v := .root.Values -}}
- ports:
    {{- range $v.networkPolicy.dns.ports }}
    - protocol: UDP
      port: {{ int . }}
    - protocol: TCP
      port: {{ int . }}
    {{- end }}
  {{- with $v.networkPolicy.dns.peers }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- range .reaches }}
{{- if or (ne . "tracing") $v.tracing.endpoint }}
{{- $target := (get $v .).networkPolicy }}
- {{- include "auth-account.networkPorts" $target.ports | nindent 2 }}
  {{- with $target.peers }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}
{{- with concat $v.networkPolicy.extraEgress (default list (default dict .values.networkPolicy).extraEgress) }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Rules for who may reach a component's pods. Takes a component and "port", that of its clients, where it has one. */}}
{{- define "auth-account.ingress" -}}
{{- $v := .root.Values -}}
- {{- include "auth-account.networkPorts" (list "ops") | nindent 2 }}
  {{- with $v.networkPolicy.monitoring.peers }}
  from:
    {{- toYaml . | nindent 4 }}
    {{- if and (has $.name (list "api" "push-gateway")) (include "auth-account.isScrapedByConsole" $.root) }}
    - podSelector:
        matchLabels:
          {{- include "auth-account.selectorLabels" (dict "root" $.root "name" "console") | nindent 10 }}
    {{- end }}
  {{- end }}
{{- if .port }}
- {{- include "auth-account.networkPorts" (list .port) | nindent 2 }}
  {{- with $v.networkPolicy.clients.peers }}
  from:
    {{- toYaml . | nindent 4 }}
    - podSelector:
        matchLabels:
          {{- include "auth-account.releaseLabels" $.root | nindent 10 }}
        matchExpressions:
          - {key: app.kubernetes.io/component, operator: In, values: [probe, test]}
  {{- end }}
{{- end }}
{{- with .values.networkPolicy.extraIngress }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Rule for the way to the providers of identities, if there are any. */}}
{{- define "auth-account.egressToProviders" -}}
{{- $providers := .Values.networkPolicy.providers }}
{{- if and .Values.identityProviders.existingSecret $providers.peers -}}
- {{- include "auth-account.networkPorts" $providers.ports | nindent 2 }}
  to:
    {{- toYaml $providers.peers | nindent 4 }}
{{- end }}
{{- end }}

{{/* Rule for the way of the canary and the test to the Services. */}}
{{- define "auth-account.egressToServices" -}}
- {{- include "auth-account.networkPorts" (list "http" "ws") | nindent 2 }}
  to:
    - podSelector:
        matchLabels:
          {{- include "auth-account.releaseLabels" . | nindent 10 }}
        matchExpressions:
          - {key: app.kubernetes.io/component, operator: In, values: [api, push-gateway]}
{{- end }}

{{/* Rule for the way of the canary and the test to public addresses. */}}
{{- define "auth-account.egressToPublic" -}}
# No peers, as nobody knows whether they lead out of the cluster or back to a node.
- {{- include "auth-account.networkPorts" (list "80" "443") | nindent 2 }}
{{- end }}

{{/* The fields of a Service that say how it is reached. Kubernetes refuses some of them for other types. */}}
{{- define "auth-account.serviceKind" -}}
type: {{ .type }}
{{- with .ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .ipFamilies }}
ipFamilies:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .externalTrafficPolicy }}
externalTrafficPolicy: {{ . }}
{{- end }}
{{- with .loadBalancerClass }}
loadBalancerClass: {{ . }}
{{- end }}
{{- end }}

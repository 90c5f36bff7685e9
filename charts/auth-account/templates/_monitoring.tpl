{{/* Relabelings of a monitor: `job` as rules and dashboards need it, then the user's own. Takes the monitor's values. */}}
{{- define "auth-account.jobRelabelings" -}}
relabelings:
  - sourceLabels: [__meta_kubernetes_pod_label_app_kubernetes_io_component]
    regex: api|push-gateway|worker|console|probe
    action: keep
  - sourceLabels: [__meta_kubernetes_pod_label_app_kubernetes_io_component]
    targetLabel: job
    replacement: auth-$1
  {{- /* auth_build_info has a label `service` of its own. */}}
  - regex: service|endpoint
    action: labeldrop
  {{- with .relabelings }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .metricRelabelings }}
metricRelabelings:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* The rules with the address of the runbooks, without the alerts that are not wanted. Their braces are Prometheus's: no template. */}}
{{- define "auth-account.ruleGroups" -}}
{{- $values := .Values.prometheusRule }}
{{- $groups := list }}
{{- range $group := (.Files.Get "rules/auth-account.rules.yaml" | fromYaml).groups }}
{{- $rules := list }}
{{- range $group.rules }}
{{- if .alert }}
{{- $_ := set .annotations "runbook_url" (print $values.runbookUrlPrefix .annotations.runbook_url) }}
{{- $_ := set . "labels" (merge (default dict .labels) $values.alertLabels) }}
{{- end }}
{{- if not (has .alert $values.disabledAlerts) }}
{{- $rules = append $rules . }}
{{- end }}
{{- end }}
{{- if $rules }}
{{- $groups = append $groups (set $group "rules" $rules) }}
{{- end }}
{{- end }}
{{- toYaml $groups }}
{{- end }}

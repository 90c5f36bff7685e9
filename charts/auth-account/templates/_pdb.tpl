{{/* The limit of a PodDisruptionBudget, which takes one of the two: a number or a percentage. Takes the values of `pdb`. */}}
{{- define "auth-account.pdbLimit" -}}
{{- if kindIs "invalid" .minAvailable -}}
maxUnavailable: {{ kindIs "string" .maxUnavailable | ternary .maxUnavailable (int .maxUnavailable) }}
{{- else -}}
minAvailable: {{ kindIs "string" .minAvailable | ternary .minAvailable (int .minAvailable) }}
{{- end }}
{{- end }}

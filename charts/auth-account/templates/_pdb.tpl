{{/* The limit of a PodDisruptionBudget, which takes one of the two: a number or a percentage. Takes the values of `pdb`. */}}
{{- define "auth-account.pdbLimit" -}}
{{- if kindIs "invalid" .minAvailable -}}
maxUnavailable: {{ kindIs "string" .maxUnavailable | ternary .maxUnavailable (int .maxUnavailable) }}
{{- else -}}
minAvailable: {{ kindIs "string" .minAvailable | ternary .minAvailable (int .minAvailable) }}
{{- end }}
{{- end }}

{{/* Fails if a budget lets none of the fewest pods go, since a drain of their node would then never end. Takes a dict: key, pdb, pods */}}
{{- define "auth-account.checkPdb" -}}
{{- $limit := kindIs "invalid" .pdb.minAvailable | ternary .pdb.maxUnavailable .pdb.minAvailable }}
{{- if kindIs "invalid" $limit }}
{{- fail (printf "%s.pdb: set maxUnavailable or minAvailable, or pdb.enabled to false: without either no pod could be evicted" .key) }}
{{- end }}
{{- $text := toString $limit }}
{{- /* Kubernetes rounds a share up. */}}
{{- $count := hasSuffix "%" $text | ternary (ceil (divf (mulf (trimSuffix "%" $text | int) .pods) 100)) (int $limit) | int }}
{{- $staying := kindIs "invalid" .pdb.minAvailable | ternary (sub .pods $count) $count | int }}
{{- if and .pods (ge $staying .pods) }}
{{- fail (printf "%s.pdb: of %d pods %d must stay, so that no node can be drained" .key .pods $staying) }}
{{- end }}
{{- end }}

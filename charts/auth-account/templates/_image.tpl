{{/* Name of an image: registry, repository, and digest or tag. Takes a dict: root, image */}}
{{- define "auth-account.image" -}}
{{- $repository := .image.repository }}
{{- with .root.Values.image.registry }}
{{- $repository = printf "%s/%s" (trimSuffix "/" .) $repository }}
{{- end }}
{{- if .image.digest }}
{{- printf "%s@%s" $repository .image.digest }}
{{- else }}
{{- printf "%s:%s" $repository (include "auth-account.imageTag" .) }}
{{- end }}
{{- end }}

{{/* Tag of an image, also where its digest counts. */}}
{{- define "auth-account.imageTag" -}}
{{- .image.tag | default .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

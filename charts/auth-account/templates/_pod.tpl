{{/* A map laid over another, key by key; null takes a key away. Takes a list: below, above */}}
{{- define "auth-account.overlay" -}}
{{- $result := deepCopy (first .) }}
{{- range $name, $value := last . }}
{{- if kindIs "invalid" $value }}
{{- $result = unset $result $name }}
{{- else }}
{{- $_ := set $result $name $value }}
{{- end }}
{{- end }}
{{- toYaml $result }}
{{- end }}

{{/* A probe of the ops port, unless the value itself says what to do. Takes a list: the value, the path */}}
{{- define "auth-account.probe" -}}
{{- $probe := deepCopy (first .) }}
{{- if not (or $probe.httpGet $probe.exec $probe.tcpSocket $probe.grpc) }}
{{- $_ := set $probe "httpGet" (dict "path" (last .) "port" "ops") }}
{{- end }}
{{- toYaml $probe }}
{{- end }}

{{/* The template of a Deployment's pods. Takes a component and "ports" (list of name and containerPort) and, where wanted, "args". */}}
{{- define "auth-account.podTemplate" -}}
metadata:
  labels:
    {{- include "auth-account.podLabels" . | nindent 4 }}
  annotations:
    checksum/config: {{ include "auth-account.config" . | sha256sum }}
    {{- with .values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  {{- include "auth-account.podBasics" . | nindent 2 }}
  terminationGracePeriodSeconds: {{ include "auth-account.graceSeconds" . }}
  {{- include "auth-account.initContainers" . | nindent 2 }}
  containers:
    - name: {{ .name }}
      {{- include "auth-account.containerBasics" . | nindent 6 }}
      {{- with .args }}
      args:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        {{- toYaml .ports | nindent 8 }}
      envFrom:
        {{- with .values.extraEnvFrom }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
        - configMapRef:
            name: {{ include "auth-account.componentName" . }}
      {{- $tracing := has .name (list "api" "push-gateway" "worker" "console") | ternary (include "auth-account.tracingEnv" .) "" }}
      {{- with concat (fromYamlArray (include "auth-account.fileEnv" .)) (fromYamlArray $tracing) .values.extraEnv }}
      env:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if gt (int .values.preStopSeconds) 0 }}
      lifecycle:
        preStop:
          sleep:
            seconds: {{ int .values.preStopSeconds }}
      {{- end }}
      {{- with .values.startupProbe }}
      startupProbe:
        {{- include "auth-account.probe" (list . "/livez") | nindent 8 }}
      {{- end }}
      {{- with .values.livenessProbe }}
      livenessProbe:
        {{- include "auth-account.probe" (list . "/livez") | nindent 8 }}
      {{- end }}
      {{- with .values.readinessProbe }}
      readinessProbe:
        {{- include "auth-account.probe" (list . "/readyz") | nindent 8 }}
      {{- end }}
    {{- with .values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- include "auth-account.scheduling" . | nindent 2 }}
{{- end }}

{{/* What every pod has: no token, no variables of other Services, an unprivileged user, its volumes. */}}
{{- define "auth-account.podBasics" -}}
serviceAccountName: {{ include "auth-account.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "auth-account.overlay" (list .root.Values.podSecurityContext (default dict .values.podSecurityContext)) | nindent 2 }}
{{- $volumes := trim (include "auth-account.fileVolumes" .) }}
{{- if and (include "auth-account.isMigratedInPod" .) .root.Values.migrate.mongodb.existingSecret }}
{{- $volumes = printf "%s\n%s" (trim (include "auth-account.fileVolumes" (dict "root" .root "name" "migrate" "values" .root.Values.migrate "only" "migrate-mongodb"))) $volumes }}
{{- end }}
{{- if or $volumes .values.extraVolumes }}
volumes:
  {{- with $volumes }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with .values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* What every container has: image, security, resources, mounts. */}}
{{- define "auth-account.containerBasics" -}}
image: {{ include "auth-account.image" (dict "root" .root "image" .values.image) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- include "auth-account.overlay" (list .root.Values.securityContext (default dict .values.securityContext)) | nindent 2 }}
{{- with .values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- $mounts := trim (include "auth-account.fileMounts" .) }}
{{- if or $mounts .values.extraVolumeMounts }}
volumeMounts:
  {{- with $mounts }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with .values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* The migrations as an init container, then the user's own. */}}
{{- define "auth-account.initContainers" -}}
{{- $isMigrated := include "auth-account.isMigratedInPod" . }}
{{- if or $isMigrated .values.extraInitContainers }}
initContainers:
  {{- if $isMigrated }}
  {{- include "auth-account.migrateContainer" .root | nindent 2 }}
  {{- end }}
  {{- with .values.extraInitContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Where the pods go. */}}
{{- define "auth-account.scheduling" -}}
{{- $component := . }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- $constraint := deepCopy . }}
  {{- if not (hasKey $constraint "labelSelector") }}
  {{- $_ := set $constraint "labelSelector" (dict "matchLabels" (fromYaml (include "auth-account.selectorLabels" $component))) }}
  {{- /* A new version spreads by itself, without regard to the pods that are about to go. */}}
  {{- $_ := set $constraint "matchLabelKeys" (default (list "pod-template-hash") $constraint.matchLabelKeys) }}
  {{- end }}
  - {{- toYaml $constraint | nindent 4 }}
  {{- end }}
{{- end }}
{{- end }}

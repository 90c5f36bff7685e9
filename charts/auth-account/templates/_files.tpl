{{/*
The Secrets and ConfigMaps that a component has, each a directory without subPath, so that a changed Secret reaches the pod:
  - name, path, volume (what the directory holds), env (variable: path of a file)
A component gets what it needs and nothing more: the push gateway no MongoDB, worker and console of the keys only the server's.
*/}}
{{- define "auth-account.files" -}}
{{- $v := .root.Values }}
{{- $mode := 288 }}{{/* 0440: the user reads by fsGroup */}}
{{- $own := dict }}
{{- with .values.mongodb }}{{ $_ := set $own "mongodb" .existingSecret }}{{ end }}
{{- with .values.redis }}{{ $_ := set $own "redis" .existingSecret }}{{ end }}
{{- $isStore := has .name (list "api" "worker" "migrate" "authctl" "console") }}
{{- $isCleaner := and (has .name (list "probe" "test")) .values.cleanUp }}
{{- if or $isStore $isCleaner }}
- name: {{ if and (eq .name "migrate") $own.mongodb }}migrate-{{ end }}mongodb
  path: /etc/auth-account/mongodb
  volume:
    secret:
      secretName: {{ required "mongodb.existingSecret is required: the name of a Secret whose key `uri` holds the connection string" (default $v.mongodb.existingSecret $own.mongodb) }}
      defaultMode: {{ $mode }}
      items:
        - {key: {{ $v.mongodb.uriKey | quote }}, path: uri}
  env:
    MONGODB_URI_FILE: /etc/auth-account/mongodb/uri
{{- with $v.mongodb.tls.existingSecret }}
- name: mongodb-tls
  path: /etc/auth-account/mongodb-tls
  volume:
    secret:
      secretName: {{ . }}
      defaultMode: {{ $mode }}
{{- end }}
{{- end }}
{{- /* The migration is the api's image, and asks for the versions that run, if there is a Redis. */}}
{{- $isAsking := and (eq .name "migrate") (or $v.redis.existingSecret $v.api.redis.existingSecret) }}
{{- if eq .name "migrate" }}{{ $_ := set $own "redis" $v.api.redis.existingSecret }}{{ end }}
{{- if or $isAsking (has .name (list "api" "push-gateway" "worker" "authctl" "console")) }}
- name: redis
  path: /etc/auth-account/redis
  volume:
    secret:
      secretName: {{ required "redis.existingSecret is required: the name of a Secret whose key `url` holds the address" (default $v.redis.existingSecret $own.redis) }}
      defaultMode: {{ $mode }}
      items:
        - {key: {{ $v.redis.urlKey | quote }}, path: url}
        {{- with $v.redis.sentinelPasswordKey }}
        - {key: {{ . | quote }}, path: sentinel-password}
        {{- end }}
  env:
    REDIS_URL_FILE: /etc/auth-account/redis/url
    {{- if $v.redis.sentinelPasswordKey }}
    REDIS_SENTINEL_PASSWORD_FILE: /etc/auth-account/redis/sentinel-password
    {{- end }}
{{- with $v.redis.tls }}
{{- if .existingSecret }}
- name: redis-tls
  path: /etc/auth-account/redis-tls
  volume:
    secret:
      secretName: {{ .existingSecret }}
      defaultMode: {{ $mode }}
  env:
    {{- with .caKey }}
    REDIS_CA_FILE: /etc/auth-account/redis-tls/{{ . }}
    {{- end }}
    {{- with .certKey }}
    REDIS_CERT_FILE: /etc/auth-account/redis-tls/{{ . }}
    {{- end }}
    {{- with .keyKey }}
    REDIS_KEY_FILE: /etc/auth-account/redis-tls/{{ . }}
    {{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- if has .name (list "api" "authctl") }}
- name: keys
  path: /etc/auth-account/keys
  volume:
    secret:
      secretName: {{ include "auth-account.keysSecret" .root }}
      defaultMode: {{ $mode }}
      items:
        - {key: {{ $v.keys.accessTokenKeysKey | quote }}, path: access-token-keys.json}
        - {key: {{ $v.keys.refreshTokenKeysKey | quote }}, path: refresh-token-keys.json}
        - {key: {{ $v.keys.serverKeysKey | quote }}, path: server-keys.json}
        {{- with $v.keys.revocationFeedKey }}
        - {key: {{ . | quote }}, path: revocation-feed.json}
        {{- end }}
  env:
    {{- with $v.keys.revocationFeedKey }}
    REVOCATION_FEED_SECRETS_FILE: /etc/auth-account/keys/revocation-feed.json
    {{- end }}
    ACCESS_TOKEN_KEYS_FILE: /etc/auth-account/keys/access-token-keys.json
    REFRESH_TOKEN_KEYS_FILE: /etc/auth-account/keys/refresh-token-keys.json
    SERVER_KEYS_FILE: /etc/auth-account/keys/server-keys.json
{{- with .values.passwordBlocklist }}
{{- if .existingConfigMap }}
- name: password-blocklist
  path: /etc/auth-account/password-blocklist
  volume:
    configMap:
      name: {{ .existingConfigMap }}
      items:
        - {key: {{ .key | quote }}, path: passwords.txt}
  env:
    PASSWORD_BLOCKLIST_FILE: /etc/auth-account/password-blocklist/passwords.txt
{{- end }}
{{- end }}
{{- end }}
{{- if eq .name "push-gateway" }}
- name: keys
  path: /etc/auth-account/keys
  volume:
    {{- include "auth-account.publicKeys" .root | nindent 4 }}
      items:
        - {key: {{ $v.keys.public.key | quote }}, path: access-token-keys.json}
  env:
    ACCESS_TOKEN_KEYS_FILE: /etc/auth-account/keys/access-token-keys.json
{{- end }}
{{- if and (eq .name "probe") .values.mail.url }}
{{- with .values.mail }}
{{- if .existingSecret }}
- name: mailbox
  path: /etc/auth-account/mailbox
  volume:
    secret:
      secretName: {{ .existingSecret }}
      defaultMode: {{ $mode }}
      items:
        - {key: {{ .key | quote }}, path: token}
  env:
    PROBE_MAIL_TOKEN_FILE: /etc/auth-account/mailbox/token
{{- end }}
{{- end }}
{{- end }}
{{- if has .name (list "api" "worker" "authctl" "console") }}
{{- with $v.identityProviders }}
{{- if .existingSecret }}
- name: identity-providers
  path: /etc/auth-account/identity-providers
  volume:
    secret:
      secretName: {{ .existingSecret }}
      defaultMode: {{ $mode }}
      items:
        - {key: {{ .key | quote }}, path: providers.json}
  env:
    IDENTITY_PROVIDERS_FILE: /etc/auth-account/identity-providers/providers.json
{{- end }}
{{- end }}
{{- end }}
{{- if has .name (list "worker" "authctl") }}
{{- with $v.worker.subscribers }}
{{- if .existingSecret }}
- name: subscribers
  path: /etc/auth-account/subscribers
  volume:
    secret:
      secretName: {{ .existingSecret }}
      defaultMode: {{ $mode }}
      items:
        - {key: {{ .key | quote }}, path: subscribers.json}
  env:
    EVENT_SUBSCRIBERS_FILE: /etc/auth-account/subscribers/subscribers.json
{{- end }}
{{- end }}
{{- end }}
{{- if eq .name "console" }}
- name: console
  path: /etc/auth-account/console
  volume:
    secret:
      secretName: {{ required "console.existingSecret is required where console.enabled is true: the name of a Secret with the secrets that seal sessions, and that of the client" .values.existingSecret }}
      defaultMode: {{ $mode }}
      items:
        - {key: {{ .values.secretsKey | quote }}, path: secrets}
        {{- with .values.clientSecretKey }}
        - {key: {{ . | quote }}, path: client-secret}
        {{- end }}
  env:
    CONSOLE_SECRETS_FILE: /etc/auth-account/console/secrets
    {{- if .values.clientSecretKey }}
    CONSOLE_CLIENT_SECRET_FILE: /etc/auth-account/console/client-secret
    {{- end }}
{{- end }}
{{- if or (eq .name "worker") (and (eq .name "console") .values.serverKeys) }}
- name: keys
  path: /etc/auth-account/keys
  volume:
    secret:
      secretName: {{ include "auth-account.keysSecret" .root }}
      defaultMode: {{ $mode }}
      items:
        - {key: {{ $v.keys.serverKeysKey | quote }}, path: server-keys.json}
  env:
    SERVER_KEYS_FILE: /etc/auth-account/keys/server-keys.json
{{- end }}
{{- if eq .name "worker" }}
{{- with .values.mail.existingTemplates }}
- name: mail-templates
  path: /etc/auth-account/mail-templates
  volume:
    configMap:
      name: {{ . }}
  env:
    MAIL_TEMPLATES_DIR: /etc/auth-account/mail-templates
{{- end }}
{{- end }}
{{- end }}

{{- define "auth-account.keysSecret" -}}
{{- required "keys.existingSecret is required: the name of a Secret with the key files access-token-keys.json, refresh-token-keys.json and server-keys.json, as `authctl keys generate` and `rotate` make them" .Values.keys.existingSecret }}
{{- end }}

{{/* The ConfigMap or Secret with the public keys, without its items: never the Secret with the private ones. */}}
{{- define "auth-account.publicKeys" -}}
{{- $public := .Values.keys.public }}
{{- if and $public.existingConfigMap $public.existingSecret }}
{{- fail "keys.public: set existingConfigMap or existingSecret, not both" }}
{{- end }}
{{- if and $public.existingSecret (eq $public.existingSecret .Values.keys.existingSecret) }}
{{- fail "keys.public.existingSecret must be another Secret than keys.existingSecret, which has the private keys: the push gateway gets public keys only" }}
{{- end }}
{{- if $public.existingConfigMap -}}
configMap:
  name: {{ $public.existingConfigMap }}
{{- else -}}
secret:
  secretName: {{ required "keys.public.existingConfigMap (or keys.public.existingSecret) is required: the name of a ConfigMap with the public keys, as `authctl keys public` writes them. The push gateway gets no private key" $public.existingSecret }}
  defaultMode: 288
{{- end }}
{{- end }}

{{/* Entries of `env` with the paths of the files. */}}
{{- define "auth-account.fileEnv" -}}
{{- range fromYamlArray (include "auth-account.files" .) }}
{{- range $name, $path := .env }}
- name: {{ $name }}
  value: {{ $path }}
{{- end }}
{{- end }}
{{- end }}

{{/* Entries of `volumeMounts` for the files. */}}
{{- define "auth-account.fileMounts" -}}
{{- range fromYamlArray (include "auth-account.files" .) }}
- name: {{ .name }}
  mountPath: {{ .path }}
  readOnly: true
{{- end }}
{{- end }}

{{/* Entries of `volumes` for the files; with "only" that of one name. */}}
{{- define "auth-account.fileVolumes" -}}
{{- $only := .only }}
{{- range fromYamlArray (include "auth-account.files" .) }}
{{- if or (not $only) (eq .name $only) }}
- name: {{ .name }}
  {{- toYaml .volume | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

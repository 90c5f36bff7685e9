{{/*
Seconds until SIGKILL. A service stops within 10 s of the end of SHUTDOWN_DELAY_SECONDS (libs/lifecycle), the push gateway's
DRAIN_SECONDS (6 at most) included; the preStop sleep comes before all of it. 2 s in reserve are the least, as the signal and the
end of the process take their time too; 5 s are what is computed.
*/}}
{{- define "auth-account.graceSeconds" -}}
{{- $config := fromYaml (include "auth-account.config" .) }}
{{- $delay := int (default 0 $config.SHUTDOWN_DELAY_SECONDS) }}
{{- $preStop := int .values.preStopSeconds }}
{{- $least := add $preStop $delay 12 }}
{{- if kindIs "invalid" .values.terminationGracePeriodSeconds }}
{{- add $least 3 }}
{{- else if lt (int64 .values.terminationGracePeriodSeconds) $least }}
{{- fail (printf "terminationGracePeriodSeconds of %s is too small: %d s of preStopSeconds, %d s of SHUTDOWN_DELAY_SECONDS, 10 s to stop and 2 s in reserve need %d at least; leave it null and it is computed" .name $preStop $delay $least) }}
{{- else }}
{{- int64 .values.terminationGracePeriodSeconds }}
{{- end }}
{{- end }}

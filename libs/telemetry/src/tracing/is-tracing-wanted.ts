const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

/**
 * Returns whether the standard variables ask for traces: an OTLP endpoint or a traces exporter is named, and neither
 * `OTEL_SDK_DISABLED=true` nor `OTEL_TRACES_EXPORTER=none` says no. The SDK by itself would call `localhost:4318` if
 * nothing is set.
 */
export function isTracingWanted(env: Readonly<Record<string, string | undefined>>): boolean {
  const exporter = env.OTEL_TRACES_EXPORTER?.trim() ?? '';
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true' || exporter === 'none') return false;
  return exporter !== '' || endpoints.some((name) => (env[name]?.trim() ?? '') !== '');
}

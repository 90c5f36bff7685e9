const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];

/**
 * Returns true if the standard variables name an OTLP endpoint or a traces exporter, and neither
 * `OTEL_SDK_DISABLED=true` nor `OTEL_TRACES_EXPORTER=none` is set. Without this test, the SDK would send traces to
 * `localhost:4318` if nothing is set.
 */
export function isTracingWanted(env: Readonly<Record<string, string | undefined>>): boolean {
  const exporter = env.OTEL_TRACES_EXPORTER?.trim() ?? '';
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true' || exporter === 'none') return false;
  return exporter !== '' || endpoints.some((name) => (env[name]?.trim() ?? '') !== '');
}

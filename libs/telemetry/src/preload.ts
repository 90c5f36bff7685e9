/**
 * For `node --import @auth-account/telemetry/preload`. Starts tracing if the environment asks for it; otherwise it
 * loads nothing and costs nothing.
 */
import { isTracingWanted } from './tracing/is-tracing-wanted.ts';

if (isTracingWanted(process.env)) {
  const { startTracing } = await import('./tracing/start-tracing.ts');
  startTracing(process.env, process.argv[1] ?? '');
}

import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { isTracingWanted } from './tracing/is-tracing-wanted.ts';

const preload = new URL('./preload.ts', import.meta.url).href;

/** Runs a process with that environment. Returns whether it loads the SDK (and so `node:http`) and traces. */
function inProcess(env: Readonly<Record<string, string>>): { readonly loads: boolean; readonly traces: boolean } {
  const script = `
    import { trace } from '@opentelemetry/api';
    const isLoaded = process.moduleLoadList.includes('NativeModule http');
    const { traceId } = trace.getTracer('t').startSpan('s').spanContext();
    console.log(JSON.stringify({ loads: isLoaded, traces: !/^0+$/.test(traceId) }));
    process.exit();`;
  const cwd = new URL('..', import.meta.url).pathname;
  const args = ['--no-warnings', '--import', preload, '--input-type=module', '-e', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd, env: { ...env, PATH: process.env.PATH } });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
}

test('the preload traces where an endpoint is set', () => {
  expect(inProcess({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' })).toEqual({ loads: true, traces: true });
});

test('the preload does nothing where no variable asks for it', () => {
  expect(inProcess({})).toEqual({ loads: false, traces: false });
});

test.each([
  [{}, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, true],
  [{ OTEL_TRACES_EXPORTER: 'console' }, true],
  [{ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, false],
  [{ OTEL_SDK_DISABLED: 'TRUE', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, false],
])('the variables %j ask for tracing: %s', (env, wanted) => {
  expect(isTracingWanted(env)).toBe(wanted);
});

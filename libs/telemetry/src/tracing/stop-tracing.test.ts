import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

const preload = new URL('../preload.ts', import.meta.url).href;

/** Runs a traced process whose collector is unreachable, and ends it after one span. */
function stopWithout(collector: string) {
  const script = `
    import { trace } from '@opentelemetry/api';
    import { stopTracing } from './src/tracing/stop-tracing.ts';
    trace.getTracer('t').startSpan('s').end();
    let [lost, ms, last] = [0, 0, performance.now()];
    // A machine that stands still adds a tenth of a second.
    const count = () => {
      const now = performance.now();
      ms += Math.min(now - last, 100);
      last = now;
    };
    setInterval(count, 10).unref();
    await stopTracing(() => { lost += 1; });
    count();
    console.log(JSON.stringify({ lost, ms }));
    process.exit(0);`;
  const args = ['--no-warnings', '--import', preload, '--input-type=module', '-e', script];
  const env = { PATH: process.env.PATH, OTEL_EXPORTER_OTLP_ENDPOINT: collector };
  const { status, stdout } = spawnSync(process.execPath, args, {
    cwd: new URL('../..', import.meta.url).pathname,
    env,
  });
  return { status, ...(JSON.parse(stdout.toString()) as { lost: number; ms: number }) };
}

test('a stop without a collector reports the loss once, and waits no longer than its limit', () => {
  const { status, lost, ms } = stopWithout('http://127.0.0.1:9');
  expect({ status, lost }).toEqual({ status: 0, lost: 1 });
  expect(ms).toBeLessThan(5_000);
});

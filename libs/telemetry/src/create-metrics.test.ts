import { describe, expect, test } from '@jest/globals';
import { Counter, Histogram } from 'prom-client';
import { createMetrics } from './create-metrics.ts';

const OPEN_METRICS = 'application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3';

function createExample() {
  const metrics = createMetrics({ service: 'api' });
  const registers = [metrics.registry];
  new Counter({ name: 'logins_total', help: 'Logins', labelNames: ['result'], registers }).inc(
    { result: 'a # {b} 1 2' },
    3,
  );
  const labelNames = ['route'];
  const seconds = new Histogram({
    name: 'seconds',
    help: 'Time',
    labelNames,
    buckets: [1],
    registers,
    enableExemplars: true,
  });
  seconds.observe({ labels: { route: '/x' }, value: 0.5, exemplarLabels: { trace_id: 'abc' } });
  return metrics;
}

describe('the metrics', () => {
  test('/metrics answers OpenMetrics with exemplars to clients that accept it', async () => {
    const { contentType, body } = await createExample().render(OPEN_METRICS);
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(body).toContain('# TYPE logins counter\nlogins_total{result="a # {b} 1 2"} 3\n');
    expect(body).toMatch(/^seconds_bucket\{le="1",route="\/x"\} 1 # \{trace_id="abc"\} 0\.5 [\d.]+$/m);
    expect(body).toMatch(/# EOF\n$/);
  });

  test.each([undefined, '*/*', 'text/plain'])(
    '/metrics answers Prometheus text to a client that accepts %s',
    async (accept) => {
      const { contentType, body } = await createExample().render(accept);
      expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(body).toContain(
        '# HELP logins_total Logins\n# TYPE logins_total counter\nlogins_total{result="a # {b} 1 2"} 3\n',
      );
      expect(body).toMatch(/^seconds_bucket\{le="1",route="\/x"\} 1$/m);
      expect(body).not.toContain('# EOF');
    },
  );

  test('every scrape gives the same metrics, whatever the format of the one before', async () => {
    const metrics = createExample();
    await metrics.render(OPEN_METRICS);
    await metrics.render(undefined);
    const { body } = await metrics.render(OPEN_METRICS);
    expect(body).not.toContain('_total_total');
  });

  test('the metrics name the build, the process and the lag of the event loop', async () => {
    const { body } = await createExample().render(undefined);
    expect(body).toMatch(/^auth_build_info\{service="api",version="\d+\.\d+\.\d+",node="v\d+\.\d+\.\d+"\} 1$/m);
    expect(body).toMatch(/^process_resident_memory_bytes \d/m);
    expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  });

  test('only counters get the suffix _total', async () => {
    const { body } = await createExample().render(undefined);
    const total = [...body.matchAll(/^# TYPE (\S+_total) (\S+)$/gm)].map(([, name, type]) => ({ name, type }));
    expect(total).toContainEqual({ name: 'logins_total', type: 'counter' });
    expect(total.filter(({ type }) => type !== 'counter')).toEqual([]);
  });

  test('the metrics say at each scrape whether the service is ready', async () => {
    const metrics = createMetrics({ service: 'api' });
    let isReady = false;
    metrics.watchReadiness(async () => isReady);
    expect((await metrics.render(undefined)).body).toMatch(/^auth_ready 0$/m);
    isReady = true;
    expect((await metrics.render(undefined)).body).toMatch(/^auth_ready 1$/m);
  });
});

import { expect, test } from '@jest/globals';
import { createMetrics, createZeroedCounter } from './create-metrics.ts';

test('a counter has every combination of its labels at zero from the start', async () => {
  const { registry } = createMetrics({ service: 'test' });
  const values = { mode: ['a', 'b'], outcome: ['good', 'bad'] };
  const counter = createZeroedCounter({ registry, name: 'things_total', help: 'Things', values });
  counter.inc({ mode: 'b', outcome: 'bad' });
  const series = (await counter.get()).values.map(({ labels, value }) => [labels.mode, labels.outcome, value]);
  expect(series).toEqual([
    ['a', 'good', 0],
    ['a', 'bad', 0],
    ['b', 'good', 0],
    ['b', 'bad', 1],
  ]);
});

import type { FloodResult } from '../flood/measure-flood.ts';
import { type Aim, atMost } from './aim.ts';

const mostMs = 1_500;

export function floodAims({ admitted, others, restarts, shedShare, sent }: FloodResult): Aim[] {
  const neither = Object.values(others).reduce((sum, count) => sum + count, 0);
  const count = (value: number) => String(value);
  return [
    atMost({ what: 'flood: admitted, p99', value: admitted.p99, most: mostMs, show: (ms) => `${Math.round(ms)} ms` }),
    {
      what: 'flood: the rest is shed with 503 or 429',
      aim: 'all',
      measured: `${(shedShare * 100).toFixed(1)} % of ${sent} shed, ${neither} otherwise`,
      isMet: neither === 0 && admitted.count < sent,
    },
    atMost({ what: 'flood: restarts', value: restarts, most: 0, show: count }),
  ];
}

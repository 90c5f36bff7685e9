import { describe, expect, test } from '@jest/globals';
import { type BenchFigures, benchFiguresOf, readBenchFigures } from './bench-figures.ts';
import { figures } from './figures.ts';
import { capacityOf, figureValues, loadOf } from './model.ts';
import { type Assumptions, assumptionNames, parseAssumptions, UsageError, usage } from './options.ts';
import { amount, byteAmount, capacityLines } from './report.ts';

const assume = (...args: string[]): Assumptions => {
  const found = parseAssumptions(args);
  if (found === undefined) throw new Error('help was asked for');
  return found;
};

const page = `| day | 2026-11-23 |

| operation | server | its CPU ms | MongoDB | Redis | more |
| --- | --- | --- | --- | --- | --- |
| register | api | 20 | 2 | 0.4 | 1 |
| login | api | 16 | 3 | 0.5 | 1 |
| session read | api | 0.5 | 0.2 | 0.05 | 1 |
| refresh | bare prototype | 9 | 9 | 9 | 1 |
| refresh | api | 1 | 0.5 | 0.1 | 1 |
| logout | api | 1 | 0.8 | 0.1 | 1 |

|  | streams | CPU ms per handshake |
| --- | --- | --- |
| gateway | 1000 | 0.9 |
| gateway | 19000 | 0.5 |
| ws | 1000 | 7 |
`;
const bench: BenchFigures = benchFiguresOf(page);

describe('the figures of capacity', () => {
  test('the figures are read from the page of the bench by the names of its columns', () => {
    expect(bench.operations.refresh).toEqual({ api: 1, mongodb: 0.5, redis: 0.1 });
    expect([bench.day, bench.handshakeMs, bench.operations.register.redis]).toEqual(['2026-11-23', 0.5, 0.4]);
  });

  test('the figures are all on the page as it is', () => {
    const { operations, handshakeMs } = readBenchFigures();
    for (const { api } of Object.values(operations)) expect(api).toBeGreaterThan(0);
    expect(handshakeMs).toBeGreaterThan(0);
  });

  test('missing figures are named', () => {
    expect(() => benchFiguresOf(page.replace('| logout | api |', '| logout | ws |'))).toThrow('no cost of logout');
    expect(() => benchFiguresOf('| day | today |')).toThrow('no table with the columns operation');
    expect(() => benchFiguresOf(page.replace('| 0.5 | 0.1 |', '| – | 0.1 |'))).toThrow('– is no figure');
  });

  test('figures of the table are positive, and each names its source and its day', () => {
    for (const { value, source, day } of Object.values(figures)) {
      expect(value).toBeGreaterThan(0);
      expect([source.length > 5, day]).toEqual([true, expect.stringMatching(/^20\d\d-\d\d-\d\d$/)]);
    }
  });
});

describe('the assumptions', () => {
  test('the assumptions have defaults, and are all in the help', () => {
    expect(assume()).toMatchObject({ devices: 1_000_000, ttl: 600, shards: 1 });
    expect(assume('--devices', '1e8', '--logins', '0.5')).toMatchObject({ devices: 100_000_000, logins: 0.5 });
    expect(parseAssumptions(['--help', '--devices', 'x'])).toBeUndefined();
    for (const name of assumptionNames) expect(usage()).toContain(`--${name} `);
  });

  test.each([
    [['--devices', 'many'], '--devices must be a whole number from 1 to 10000000000, not "many"'],
    [['--devices', '0'], 'from 1'],
    [['--devices', '1.5'], 'whole'],
    [['--devices='], 'not ""'],
    [['--devices=-5'], 'not "-5"'],
    [['--average', '2'], '--average must be a number from 0 to 1'],
    [['--busy', 'Infinity'], 'not "Infinity"'],
    [['--ttl', '60'], '--early must be less than --ttl'],
    [['--device', '5'], "Unknown option '--device'"],
    [['5'], 'Unexpected argument'],
    [['--ttl'], 'argument missing'],
  ])('the arguments %j are refused', (args, message) => {
    expect(() => parseAssumptions(args)).toThrow(UsageError);
    expect(() => parseAssumptions(args)).toThrow(message);
  });
});

describe('the model', () => {
  // 5,400,000 devices that refresh every 540 s make 10,000 refreshes/s.
  const on = assume(...'--devices 5400000 --requests 2 --handshakes 0.2 --logins 0.1 --busy 0.5'.split(' '));

  test('the model counts what happens in a second', () => {
    const load = { refreshes: 10_000, reads: 3_000, handshakes: 300, logins: 150, registrations: 30, logouts: 75 };
    expect(loadOf(on)).toEqual(load);
  });

  test('the model sums up cores by hand', () => {
    const { api, mongodb, redis } = capacityOf(on, bench);
    // 10,000 × 1 + 3,000 × 0.5 + 150 × 16 + 30 × 20 + 75 × 1 = 14,575 ms, at half of the cores.
    expect(api.cores).toBeCloseTo(29.15, 6);
    // 10,000 × 0.5 + 3,000 × 0.2 + 150 × 3 + 30 × 2 + 75 × 0.8 = 6,170 ms, and 30 deliveries of 0.59 ms.
    expect(mongodb.cores).toBeCloseTo(6.1877, 6);
    // 1,000 + 150 + 75 + 12 + 7.5 = 1,244.5 ms, 300 handshakes of 0.028 ms and 30 deliveries of 0.22 ms.
    expect(redis.cores).toBeCloseTo(1.2595, 6);
  });

  test('the model splits into cells by what one Redis master carries, and gives each cell a spare pod', () => {
    const { cells, api, gateway, worker, mongodb, redis } = capacityOf(on, bench);
    // 1.26 cores need three masters at half a core each. A cell has 9.7 cores of the api in pods of 4, and 1,800,000
    // streams, 100,000 in each pod.
    expect([cells, redis.masters, api.pods, gateway.pods, worker.pods]).toEqual([3, 3, 12, 57, 6]);
    expect(gateway.streams).toBe(100_000);
    expect(mongodb.primaries).toBe(3);
  });

  test('a small deployment has two of each', () => {
    const { cells, api, gateway, worker, mongodb } = capacityOf(assume('--devices', '1'), bench);
    expect([cells, api.pods, gateway.pods, worker.pods, mongodb.primaries]).toEqual([1, 2, 2, 2, 1]);
  });

  test('the model counts MongoDB by whichever of CPU, cache and disk is the first limit', () => {
    const primaries = (...args: string[]) => capacityOf(assume('--redis-busy', '1', ...args), bench).mongodb.primaries;
    // 1,080,000 devices make 2,000 refreshes, 3,600 reads, 3 logins, 0.6 registrations and 1.5 logouts a second, which
    // take 1.73 cores.
    expect(primaries('--devices', '1080000', '--mongodb-cores', '1', '--mongodb-busy', '1')).toBe(2);
    // 3,240,000 sessions of 1,133 B and some 86,000 users of 503 B make 3.46 GiB.
    expect(primaries('--devices', '1080000', '--mongodb-cache', '1')).toBe(4);
    // 21.6 GB of documents, most of them ended sessions, and 76.6 GB of oplog make 91.5 GiB.
    expect(primaries('--devices', '1080000', '--mongodb-disk', '50')).toBe(2);
  });

  test('a sharded MongoDB has several primaries in a cell', () => {
    const needed = ['--devices', '1080000', '--mongodb-cache', '1'];
    expect(capacityOf(assume(...needed), bench).cells).toBe(4);
    const { cells, mongodb } = capacityOf(assume(...needed, '--shards', '2'), bench);
    expect([cells, mongodb.primaries]).toEqual([2, 4]);
  });

  test('the model sums up bandwidth by hand', () => {
    const { bandwidth } = capacityOf(on, bench, { ...figureValues, refreshHttpBytes: 2_000, readHttpBytes: 1_000 });
    const others = 150 * 2_257 + 30 * 1_082 + 75 * 1_740;
    expect(bandwidth.http).toBeCloseTo(20_000_000 + 3_000_000 + others, 3);
    expect(bandwidth.streams).toBeCloseTo(5_400_000 * 7.6, 3);
    expect(bandwidth.replication).toBeCloseTo(10_000 * 440 + 150 * 1_622 + 30 * 2_627 + 75 * 348, 3);
  });

  test('the model says how long it takes until everybody has logged in again', () => {
    // 5,400,000 logins of 16 ms on 29.15 cores.
    expect(capacityOf(on, bench).everybodySeconds).toBeCloseTo(86_400 / 29.15, 6);
  });
});

test('the result is shown with three significant digits', () => {
  expect([0, 0.1234, 1.5, 12.34, 1_234, 98_765].map(amount)).toEqual(['0', '0.123', '1.5', '12.3', '1,230', '98,800']);
  expect([12, 1_500, 2e9, 7.1e12].map(byteAmount)).toEqual(['12 B', '1.5 KB', '2 GB', '7.1 TB']);
  const lines = capacityLines(capacityOf(assume('--devices', '1e8'), bench));
  expect(lines.find(([what]) => what === 'refreshes/s')).toEqual(['refreshes/s', '185,000']);
  for (const [, shown] of lines) expect(shown).not.toMatch(/NaN|Infinity|undefined/);
});

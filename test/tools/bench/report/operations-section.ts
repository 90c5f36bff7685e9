import type { MedianCost } from '../cost/cost-medians.ts';
import type { OperationsResult } from '../cost/measure-operations.ts';
import { hashedOperations, type OperationName } from '../cost/operations.ts';
import { markdownTable } from './markdown-table.ts';
import { paragraphs, plotImage, type Section } from './section.ts';
import { type BarGroup, barChart } from './svg/bar-chart.ts';

const two = (value: number) => value.toFixed(2);
const hashedPlot = 'register-and-login.svg';
const restPlot = 'read-refresh-logout.svg';

export function operationsSection(result: OperationsResult): Section {
  const { costs, bareHashMs } = result;
  const hashed = costs.filter(({ operation }) => hashedOperations.has(operation));
  const rest = costs.filter(({ operation }) => !hashedOperations.has(operation));
  return {
    heading: 'What an operation costs',
    text: paragraphs(
      `CPU milliseconds of one operation, user and system, read from /proc by process; medians of three rounds, in which the servers took turns. A bare Argon2id hash (19456 KiB, two passes, one lane; \`@node-rs/argon2\`) took ${two(bareHashMs)} ms in the same run. Every server kept its data in the same MongoDB, with writes that a majority has on disk.`,
      markdownTable(
        [
          'operation',
          'server',
          'its CPU ms',
          'MongoDB',
          'Redis',
          'server and MongoDB',
          'in bare hashes',
          'beside api',
          'per second',
          'per CPU second',
        ],
        costs.map((cost) => costRow(cost, result)),
      ),
      'Per second of the clock, clients, server and stores share the cores: with twice as many requests at once as there are cores for registration and login, whose CPU was measured one after another as the bare hash was; with eight at once for the others. Per CPU second counts server and MongoDB.',
      plotImage(hashedPlot, 'CPU of registration and login by server'),
      plotImage(restPlot, 'CPU of session read, refresh and logout by server'),
      peersText(result),
    ),
    plots: {
      [hashedPlot]: barChart({
        title: 'Registration and login',
        subtitle: 'CPU milliseconds of server and MongoDB for one operation',
        groups: groups(hashed).map((group) => ({
          ...group,
          mark: { value: bareHashMs, label: 'one bare Argon2id hash' },
        })),
      }),
      [restPlot]: barChart({
        title: 'Session read, refresh, logout',
        subtitle: 'CPU milliseconds of server and MongoDB for one operation',
        groups: groups(rest),
      }),
    },
  };
}

function costRow(cost: MedianCost, { costs, rates, bareHashMs }: OperationsResult): string[] {
  const { operation, candidate, server, mongod, redis, both } = cost;
  const ownMs = costs.find((each) => each.operation === operation && each.candidate === 'api')?.both ?? Number.NaN;
  const rate = rates.find((each) => each.operation === operation && each.candidate === candidate) ?? cost;
  return [
    ...[operation, candidate],
    ...[server, mongod, redis, both, both / bareHashMs].map(two),
    candidate === 'api' ? '' : `${two(both / ownMs)} ×`,
    rate.perSecond.toFixed(0),
    (1_000 / both).toFixed(0),
  ];
}

function groups(costs: readonly MedianCost[]): BarGroup[] {
  return [...Map.groupBy(costs, ({ operation }) => operation)].map(([label, of]) => ({
    label,
    bars: of.map(({ candidate, both }) => ({
      label: candidate,
      value: both,
      shown: `${two(both)} ms`,
      kind: kindOf(candidate),
    })),
  }));
}

function kindOf(candidate: string): 'own' | 'reference' | 'peer' {
  if (candidate === 'api') return 'own';
  return candidate === 'bare prototype' ? 'reference' : 'peer';
}

function peersText({ peers }: OperationsResult): string {
  if (peers.length === 0) return '';
  const names: readonly OperationName[] = ['register', 'login', 'session read', 'refresh', 'logout'];
  return paragraphs(
    'What stands for each operation at the peers. They count no attempts, keep no audit, publish no event and close no stream; the bare prototype is the api without validation, limits, logs, metrics, audit, idempotency and hash gate.',
    markdownTable(
      ['peer', 'hash', ...names],
      peers.map(({ name, version, hash, offers }) => [
        `${name} ${version}`,
        hash ?? '–',
        ...names.map((operation) => offers[operation] ?? '–'),
      ]),
    ),
  );
}

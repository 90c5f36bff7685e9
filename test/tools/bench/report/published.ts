import type { OverloadResult } from '../cost/measure-overload.ts';
import type { OperationName } from '../cost/operations.ts';
import type { BenchResults } from './aims.ts';
import { markdownTable, type Percentiles, paragraphs } from './figures.ts';

/** Figures that others publish about themselves, in their own unit, with what differs from this run. */
const published = [
  {
    ...{ of: 'Keycloak', what: 'password logins per CPU second', figure: '15, up to 300/s' },
    own: (results: BenchResults) => perCpuSecond(results, 'login'),
    differs:
      'its own hash, login pages and TLS; 0.35 to 0.7 vCPU of PostgreSQL for each 100 logins, logouts or refreshes a second are not in it',
    source: 'https://www.keycloak.org/high-availability/single-cluster/concepts-memory-and-cpu-sizing',
    hardware: 'containers on OpenShift, Aurora PostgreSQL',
  },
  {
    ...{ of: 'Keycloak', what: 'refreshes per CPU second', figure: '120, up to 435/s' },
    own: (results: BenchResults) => perCpuSecond(results, 'refresh'),
    differs: 'as above',
    source: 'https://www.keycloak.org/high-availability/single-cluster/concepts-memory-and-cpu-sizing',
    hardware: 'as above',
  },
  {
    ...{
      of: 'Zitadel 4.0.0-rc2',
      what: 'password logins a second, by 600 users at once',
      figure: '39; 3.6 % of the requests got 429',
    },
    own: ({ operations }: BenchResults) => operations?.overload && underOverload(operations.overload),
    differs: 'its login pages, of which one login loads several; its own hash',
    source: 'https://zitadel.com/docs/apis/benchmarks/v4/human_password_login',
    hardware: '2 to 7 containers of 6 vCPU and PostgreSQL of 8 vCPU',
  },
  {
    ...{
      of: 'Centrifugo, August 2026',
      what: 'memory of an idle stream',
      figure: '27 KB; 10.9 KB tuned, in its paid edition; 4 KB of the kernel',
    },
    own: ({ push }: BenchResults) => {
      const last = push?.streams.levels.at(-1);
      return (
        last &&
        `${kb(last.bytesPerStream)} and ${kb(last.kernelBytesPerConnection.slab / 2)} of the kernel, at ${last.streams}`
      );
    },
    differs: 'each connection has subscriptions of its own; 200,000 connections',
    source: 'https://github.com/centrifugal/centrifugo-pro/releases/tag/v6.9.2',
    hardware: 'one node',
  },
  {
    ...{
      of: 'Supabase Realtime',
      what: 'messages delivered a second',
      figure: '224,000 to 32,000 users, 6 / 213 ms at p50 / p99',
    },
    own: ({ push }: BenchResults) =>
      push?.broadcasts
        .map(({ groups, groupSize, framesPerSecond, delay }) => {
          const all = groups === 1 ? 'one group' : `${groups} groups`;
          return `${framesPerSecond} to ${groups * groupSize} streams in ${all}, ${delay.p50} / ${delay.p99} ms`;
        })
        .join('; '),
    differs: 'its clients publish themselves, each to channels of 1 and of 6',
    source: 'https://supabase.com/docs/guides/realtime/benchmarks',
    hardware: 'a cluster of 2 to 6 nodes, clients on others',
  },
] as const;

const kb = (bytes: number) => `${(bytes / 1_000).toFixed(1)} KB`;

const ownCost = ({ operations }: BenchResults, name: OperationName) =>
  operations?.costs.find(({ operation, candidate }) => operation === name && candidate === 'api');

function perCpuSecond(results: BenchResults, name: OperationName): string | undefined {
  const cost = ownCost(results, name);
  return cost && `${Math.round(1_000 / cost.both)}, MongoDB included`;
}

function underOverload({ perSecond, refusedPercent, served, refused }: OverloadResult): string {
  const times = ({ p50, p99 }: Percentiles) => `${Math.round(p50)} / ${Math.round(p99)} ms`;
  return `${Math.round(perSecond)}, in ${times(served)} at p50 / p99; ${refusedPercent} % of the requests got 503 with a Retry-After, in ${times(refused)}; on two cores with the clients and MongoDB`;
}

/** Sets this run beside the figures that others publish. */
export function publishedSection(results: BenchResults): string {
  return paragraphs(
    '## Beside what others publish',
    'None of these figures was measured here: they are what each project says of itself, read in November 2026. The hardware and the work differ, so they show an order of magnitude.',
    markdownTable(
      ['', 'this run', 'published', 'by', 'on', 'what differs'],
      published.map(({ of, what, figure, own, differs, source, hardware }) => [
        ...[what, own(results) ?? '–', figure],
        ...[`[${of}](${source})`, hardware, differs],
      ]),
    ),
  );
}

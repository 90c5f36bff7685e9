import { equivalents } from '../cost/better-auth.ts';
import { costTable } from '../cost/cost-table.ts';
import { rounds } from '../cost/measure-operations.ts';
import { operationNames } from '../cost/operations.ts';
import { comparedRounds, maxOthers, stillWithin } from '../cost/rounds.ts';
import type { GrowthLevel } from '../growth/measure-growth.ts';
import { quietCores } from '../machine/cpu-counters.ts';
import type { Machine } from '../machine/describe-machine.ts';
import { type BroadcastLevel, inTimeMs } from '../push/measure-broadcasts.ts';
import type { IncidentsResult } from '../push/measure-incidents.ts';
import type { LogoutResult } from '../push/measure-logouts.ts';
import type { StreamsResult } from '../push/measure-streams.ts';
import { type Aim, aimsOf, type BenchResults, costAt, type OperationsResult, type PushResult } from './aims.ts';
import { markdownTable, type Percentiles, paragraphs } from './figures.ts';
import { publishedSection } from './published.ts';

/** Returns the text of docs/benchmarks.md. */
export function benchmarksPage(results: BenchResults): string {
  const { machine, minutes, surroundings, operations, events, push, growth } = results;
  const text = paragraphs(
    '# Benchmarks',
    `\`npm run bench\` wrote this page, and measured everything on it in one run of ${minutes.toFixed(0)} minutes. Change the program, not this page. [performance.md](performance.md) says where the time of the hot paths goes.`,
    machineTable(machine),
    surroundingsText(surroundings),
    '## Aims',
    aimsTable(aimsOf(results)),
    operations ? operationsSection(operations) : '',
    events ? eventsSection(events) : '',
    push ? pushSection(push) : '',
    growth ? growthSection(growth) : '',
    operations && push ? publishedSection(results) : '',
  );
  return `${text}\n`;
}

function machineTable(machine: Machine): string {
  const { date, cpu, cores, loadBefore, memoryGib, system, apiNode, node, mongodb, redis } = machine;
  return markdownTable(
    ['', ''],
    [
      ['day', date],
      ['processor', `${cpu}, ${cores} cores; ${loadBefore} of them wanted in the minute before`],
      ['memory', `${memoryGib} GiB`],
      ['system', system],
      ['Node', `${apiNode.slice(1)}; of the gateway and the load ${node.slice(1)}`],
      ['MongoDB, Redis', `${mongodb} (a replica set of one), ${redis}`],
    ],
  );
}

/** Describes how quiet the machine was. */
function surroundingsText(surroundings: BenchResults['surroundings']): string {
  return paragraphs(
    `Before each part the program waited, for a limited time, until other processes, the kernel’s threads and the hypervisor took less than ${quietCores} cores for five seconds. Then it measured in any case. The table shows what they took during the measurement (/proc/stat, without the run’s own processes):`,
    markdownTable(
      ['part', 'waited', 'quiet then', 'measured for', 'other processes', 'hypervisor'],
      surroundings.map(({ part, waitedSeconds, isQuiet, seconds, others, stolen }) => [
        ...[part, `${waitedSeconds.toFixed(0)} s`, isQuiet ? 'yes' : '**no**', `${seconds.toFixed(0)} s`],
        ...[others, stolen].map((cores) => `${cores.toFixed(2)} cores`),
      ]),
    ),
  );
}

/** Returns the aims as Markdown, with the number of aims that were met. */
function aimsTable(aims: readonly Aim[]): string {
  const rows = aims.map(({ what, aim, measured, isMet }) => [what, aim, measured, isMet ? 'yes' : '**no**']);
  const met = aims.filter(({ isMet }) => isMet).length;
  const table = markdownTable(['', 'aim', 'this run', 'met'], rows);
  return paragraphs(`${met} of ${aims.length} are met by this run.`, table);
}

function operationsSection({ betterAuth, ...costs }: OperationsResult): string {
  const { bareHashMs, repeated } = costs;
  const disturbed =
    repeated === 0
      ? `Other processes took at most ${maxOthers} of a core in every round`
      : `${repeated} rounds were repeated, because other processes took more than ${maxOthers} of a core; the quietest attempt counts`;
  return paragraphs(
    '## What an operation costs',
    `The table shows CPU milliseconds of one operation (user and system, as the kernel’s scheduler counts them for each process): medians of ${rounds} rounds, in which the servers took turns. ${disturbed}. A bare Argon2id hash (19456 KiB, two passes, one lane; \`@node-rs/argon2\`) took ${bareHashMs.toFixed(2)} ms in the same run. Every server kept its data in the same MongoDB, with writes that wait until a majority has them on disk.`,
    `Rounds count only after the server’s cost has become steady. Until then the server answers rounds of 300 operations (60 with a hash). Its cost is steady when the median CPU time per operation of ${comparedRounds} rounds (with a hash: of the event loop alone) differs by less than ${stillWithin * 100} % from that of the ${comparedRounds} rounds before. *Operations before* is the number of operations until then. *Cold* is the cost of server and MongoDB for the first 150 operations (30 with a hash) of a new process, whose code V8 has not compiled yet.`,
    costTable(costs),
    '*Per second* is by the clock, while clients, server and stores share the cores. Registration and login had twice as many requests at once as there are cores, the other operations eight. The CPU of registration and login was measured with one request at a time, as that of the bare hash was. *Per CPU second* is by the CPU time of server and MongoDB.',
    'The bare prototype is the api without validation, limits, logs, metrics, audit, idempotency and hash gate.',
    betterAuthText(betterAuth),
    oidcProviderText,
  );
}

function betterAuthText(version: string | undefined): string {
  if (version === undefined) return 'better-auth was left out, because it was not installed.';
  return paragraphs(
    `The table shows what better-auth ${version} does for an operation, with the same hash. It counts no attempts, keeps no audit, publishes no event and closes no stream.`,
    markdownTable(['operation', 'better-auth'], Object.entries(equivalents)),
  );
}

/** A peer that was measured until this day, before its program was removed. */
const oidcProviderText =
  'On 2026-11-25 oidc-provider 9.13.3 took 0.87 ms for a session read (userinfo), 3.00 for a refresh (rotation, an EdDSA id token, a stored access token) and 3.00 for a logout (revocation of the grant), beside 0.54, 1.15 and 1.27 of the api.';

function eventsSection({ count, min, p50, p99, max }: Percentiles): string {
  return paragraphs(
    '## How soon an event is there',
    'The time from a registration’s 201 at the client to the signed webhook at the subscriber, one registration after another. Api, worker, MongoDB, Redis, client and subscriber share the machine. A time below zero means that the event came first.',
    markdownTable(
      ['registrations', 'least', 'p50', 'p99', 'most'],
      [[count, ...[min, p50, p99, max].map((ms) => `${ms} ms`)]],
    ),
  );
}

const latency = ({ p50, p99, max }: Percentiles) => `${p50} / ${p99} / ${max}`;

function pushSection({ streams, broadcasts, logouts }: PushResult): string {
  return paragraphs(
    '## Push streams',
    'The first table is about idle authenticated streams on one gateway. It also shows the time from a command over Redis to its close frame, with all these streams open and four commands in flight. The kernel’s memory is that of both ends, because both are on this machine. If the process collects garbage during the measurement, it may need less memory with streams than it did empty. Then the figure is too low, or negative.',
    ...streamsTables(streams),
    ...incidentsTexts(streams.incidents),
    `Messages of other services to groups, at the highest rate at which 99 frames in 100 came within ${inTimeMs} ms:`,
    broadcastsTable(broadcasts),
    'Logouts over HTTP at the real api, after 2,000 that don’t count. The stream of each session is open at the gateway. The bare write changes one session’s document, as a logout does:',
    logoutTable(logouts),
  );
}

/** Formats a line for each number of streams, and then the rest. */
function streamsTables({ levels, emptyMiB, broadcast, idleCpuPercent, lost }: StreamsResult): string[] {
  const rows = levels.map((level) => [
    ...[level.streams, level.bytesPerStream],
    ...[level.kernelBytesPerConnection.tcpBuffers, level.kernelBytesPerConnection.slab],
    ...[level.handshakesPerSecond, level.openingSeconds, level.refused, level.cpuMsPerHandshake],
    latency(level.commandToClose),
  ]);
  const head = [
    ...['streams', 'user space, bytes per stream'],
    ...['TCP buffers, both ends, bytes', 'kernel slab, both ends, bytes'],
    ...['handshakes/s', 'opened in s', 'refused', 'CPU ms per handshake'],
    'command → close, p50 / p99 / max ms',
  ];
  const rest = [
    ...['empty process, MiB', 'group message → frame, p50 / p99 / max ms'],
    ...['group', 'idle CPU, % of a core', 'streams lost'],
  ];
  return [
    markdownTable(head, rows),
    markdownTable(rest, [[emptyMiB, latency(broadcast), broadcast.groupSize, idleCpuPercent, lost]]),
  ];
}

/** Formats the outcome of the failures with all these streams. */
function incidentsTexts({ lostRedis, restart, drain }: IncidentsResult): string[] {
  const row = (what: string, { secondsToHalf, secondsTo99, secondsToAll, ...back }: IncidentsResult['restart']) => [
    ...[what, `${secondsToHalf} / ${secondsTo99} / ${secondsToAll}`],
    ...[back.maxPerSecond, back.refused, back.cpuMsPerHandshake],
  ];
  return [
    `The gateway lost Redis for 5 s, and the deny list for 5 s more. ${lostRedis.lost} streams ended; it was ready ${lostRedis.readySeconds} s after the list was back, and used ${(lostRedis.cpuMs / 1_000).toFixed(2)} s of CPU in all. Then a close took ${latency(lostRedis.commandToClose)} ms. After that the gateway was killed and was back after 5 s; and at last it was stopped, and another one took over. The apps came back as the client library does. The gateway that was stopped announced ${drain.noticed} of the ends, and ended after ${drain.endedAfterSeconds} s.`,
    markdownTable(
      [
        '',
        'streams back after s: half / 99 % / all',
        'most in a second',
        'handshakes that failed',
        'CPU ms per handshake',
      ],
      [row('killed', restart), row('stopped', drain)],
    ),
  ];
}

function broadcastsTable(levels: readonly BroadcastLevel[]): string {
  return markdownTable(
    [
      'groups',
      'streams in each',
      'messages/s',
      'frames/s',
      'message → frame, p50 / p99 / max ms',
      'CPU of the gateway, % of a core',
    ],
    levels.map(({ groups, groupSize, messagesPerSecond, framesPerSecond, delay, cpuPercent }) => [
      ...[groups, groupSize, messagesPerSecond, framesPerSecond],
      ...[latency(delay), cpuPercent],
    ]),
  );
}

function logoutTable({ single, singleAnswer, bareWrite, flood }: LogoutResult): string {
  const rate = `${flood.wantedPerSecond}/s begun, ${flood.donePerSecond}/s done`;
  return markdownTable(
    ['HTTP logouts', 'request → close, p50 / p99 / max ms', 'request → 200, p50 / p99 / max ms'],
    [
      ['one in flight', latency(single), latency(singleAnswer)],
      [rate, latency(flood.requestToClose), latency(flood.requestToAnswer)],
      ['a bare acknowledged write, in turns with those in flight alone', '–', latency(bareWrite)],
    ],
  );
}

function growthSection(levels: readonly GrowthLevel[]): string {
  const grouped = (count: number) => count.toLocaleString('en');
  const gib = (mib: number) => (mib / 1_024).toFixed(2);
  return paragraphs(
    '## How cost grows with the store',
    'CPU milliseconds of api and MongoDB for one operation, by the number of users in the store. Each user has a group of their own and one live session, or more. *Expiry* is what MongoDB’s TTL monitor needs to remove a session. The operations use accounts and sessions from anywhere among those added last, and each session once. The api is one process, which runs while the store grows, and is warmed again at each size. *Store* is the size of documents and indexes in MongoDB’s cache if all of them are there. In the last row the cache is the smallest that mongod accepts, so most documents are read from the file system. The figures are CPU time, so they don’t include the time that a disk takes.',
    markdownTable(
      ['users', 'sessions', 'store, GiB', 'cache, GiB', ...operationNames, 'expiry', 'bare hash'],
      levels.map((level) => [
        ...[grouped(level.users), grouped(level.sessions), gib(level.storeMib), gib(level.cacheMib)],
        ...operationNames.map((operation) => costAt(level, operation).toFixed(2)),
        level.expiryMs.toFixed(3),
        level.bareHashMs.toFixed(2),
      ]),
    ),
  );
}

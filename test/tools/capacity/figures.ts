/** A measured figure, in the unit of its name. */
export interface Figure {
  readonly value: number;
  readonly what: string;
  /** The value with its unit, as a reader sees it. */
  readonly shown: string;
  /** The command that repeats the measurement, or the figure's source. */
  readonly source: string;
  readonly day: string;
}

type Source = readonly [command: string, day: string];

const hints: Source = ['`npm run bench hints`', '2026-11-21'];
const outbox: Source = ['`npm run bench outbox`', '2026-11-21'];
const redis: Source = ['`npm run bench redis`', '2026-11-23'];
const memory: Source = ['`INFO memory` of a running stack', '2026-11-21'];
const footprint: Source = ['`npm run bench footprint`', '2026-11-23'];

function figure(value: number, unit: string, what: string, [source, day]: Source): Figure {
  const shown = unit.startsWith('B') && value >= 1_000 ? `${value / 1_000} K${unit}` : `${value} ${unit}`;
  return { value, shown, what, source, day };
}

/**
 * Figures that docs/benchmarks.md does not have, in the order of the capacity page's table. The CPU of an operation
 * comes from docs/benchmarks.md (bench-figures.ts).
 */
export const figures = {
  gatewayMiB: figure(21, 'MiB', 'push-gateway, empty', ['a pod of `npm run test:cluster`', '2026-11-25']),
  streamBytes: figure(
    7_100,
    'B',
    'idle stream: the process’s part and the kernel’s for this end, which counts in the pod’s cgroup',
    ['`npm run bench -- --only push --full`, half of what both ends take in the kernel', '2026-11-23'],
  ),
  pingBytesPerSecond: figure(7.6, 'B/s', 'idle stream: ping, pong and their acknowledgements every 38 s, with TLS', [
    'computed from the frames',
    '2026-11-24',
  ]),
  heardMs: figure(0.01, 'ms CPU', 'message that a gateway hears: a close, or a new stream at another one', hints),
  workerEventsPerSecond: figure(830, '/s', 'events that a worker delivers to a webhook', outbox),
  eventMongodbMs: figure(0.59, 'ms CPU', 'event delivered to a webhook: MongoDB', outbox),
  eventRedisMs: figure(0.22, 'ms CPU', 'event delivered to a webhook: Redis, two queues', outbox),
  publishedRedisMs: figure(0.058, 'ms CPU', 'event published: Redis', redis),
  endedRedisMs: figure(0.074, 'ms CPU', 'event taken and ended in one queue: Redis', redis),
  questionRedisMs: figure(0.013, 'ms CPU', 'question to the deny list: Redis', redis),
  handshakeRedisMs: figure(0.028, 'ms CPU', 'handshake that shares no round trip: Redis', redis),
  denialRedisMs: figure(0.03, 'ms CPU', 'denial with its close command: Redis', redis),
  registerOplogBytes: figure(2_627, 'B', 'registration with its event’s delivery: oplog', footprint),
  loginOplogBytes: figure(1_622, 'B', 'login: oplog', footprint),
  refreshOplogBytes: figure(440, 'B', 'refresh: oplog', footprint),
  logoutOplogBytes: figure(348, 'B', 'logout: oplog', footprint),
  registerHttpBytes: figure(1_082, 'B', 'registration: HTTP in both directions, without TLS', footprint),
  loginHttpBytes: figure(2_257, 'B', 'login: HTTP', footprint),
  readHttpBytes: figure(1_792, 'B', 'authenticated read of a short list: HTTP', footprint),
  refreshHttpBytes: figure(2_205, 'B', 'refresh: HTTP', footprint),
  logoutHttpBytes: figure(1_740, 'B', 'logout: HTTP', footprint),
  userBytes: figure(503, 'B', 'document of a user, in memory', footprint),
  userDiskBytes: figure(521, 'B', 'user: disk, indexes included', footprint),
  groupDiskBytes: figure(161, 'B', 'group: disk, indexes included', footprint),
  sessionBytes: figure(1_133, 'B', 'document of a session, in memory', footprint),
  sessionDiskBytes: figure(831, 'B', 'session: disk, indexes included', footprint),
  outboxDiskBytes: figure(381, 'B', 'event in the outbox: disk, indexes included', footprint),
  accountRedisBytes: figure(184, 'B', 'account’s known places: memory of Redis, for 180 days', memory),
  jobRedisBytes: figure(2_400, 'B', 'event’s job in a queue: memory of Redis', memory),
  denialRedisBytes: figure(275, 'B', 'ended session on the deny list: memory of Redis', memory),
} as const satisfies Readonly<Record<string, Figure>>;

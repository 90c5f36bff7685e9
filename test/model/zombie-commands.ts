import { expect } from '@jest/globals';
import fc from 'fast-check';
import { signToken } from '../support/gateway/gateway-fixture.ts';
import { openStream, type PushClient } from '../support/gateway/push-client.ts';
import { eventually } from '../support/worker/worker-fixture.ts';
import { type Part, patience, type ZombieFixture } from './zombie-fixture.ts';

/** A stream that the gateway has accepted, and how it ended. */
interface Stream {
  readonly client: PushClient;
  /** The claims version of the stream's token. */
  readonly ver: number;
  /** Close codes with which the stream may end for other reasons than a revocation. */
  readonly mayEnd: Set<number>;
  ended: { readonly code: number; readonly at: number } | undefined;
}

interface Device {
  readonly sessionId: string;
  readonly userId: string;
  readonly groupId: string;
  /** True if the session's revocation is committed in MongoDB. */
  isRevoked: boolean;
  ver: number;
  /** The claims version of the app's access token, as of the app's last refresh. */
  tokenVer: number;
  readonly streams: Stream[];
}

/** State of the model. */
export interface World {
  readonly devices: readonly Device[];
  readonly away: Set<Part>;
}

/** Results of the runs. */
export interface Figures {
  runs: number;
  commands: number;
  streams: number;
  /** Milliseconds from each announcement that arrived to the close frame. */
  readonly atOnce: number[];
  /** Milliseconds from the restored connections to the last zombie's close frame, one for each run with zombies. */
  readonly madeGood: number[];
}

export interface Real {
  readonly fixture: ZombieFixture;
  readonly figures: Figures;
}

const deviceCount = 3;
/** The bound for "at once" on a machine that does other things too. The figures show the measured times. */
const atOnceMs = 1_500 * patience;
/** An access token's lifetime plus the 30 s by which its stream may outlive it. */
const tokenLifeMs = 600_000 + 30_000;

/** Creates new devices, each with a stream. */
export async function newWorld(real: Real): Promise<World> {
  const rows = await Promise.all(Array.from({ length: deviceCount }, () => real.fixture.insertSession()));
  const devices = rows.map((row): Device => ({ ...row, isRevoked: false, ver: 1, tokenVer: 1, streams: [] }));
  for (const device of devices) expect(await tryToOpen(device, real)).toBeDefined();
  return { devices, away: new Set() };
}

function isZombie({ isRevoked, ver }: Device, stream: Stream): boolean {
  return stream.ended === undefined && (isRevoked || stream.ver < ver);
}

function command(name: string, run: (world: World, real: Real) => Promise<void>): fc.AsyncCommand<World, Real> {
  return {
    check: () => true,
    async run(world, real) {
      real.figures.commands += 1;
      await run(world, real);
      expectNoneToEndUnasked(world);
    },
    toString: () => name,
  };
}

/** Asserts that no stream ended without a reason. */
function expectNoneToEndUnasked({ devices }: World): void {
  for (const device of devices) {
    for (const { ended, ver, mayEnd } of device.streams) {
      if (ended === undefined || mayEnd.has(ended.code)) continue;
      const isDue = device.isRevoked || ver < device.ver;
      expect({ code: ended.code, isDue }).toEqual({ code: expect.any(Number), isDue: true });
      expect(device.isRevoked ? [1000, 4004] : [4004]).toContain(ended.code);
    }
  }
}

async function tryToOpen(device: Device, { fixture, figures }: Real): Promise<Stream | undefined> {
  const ver = device.tokenVer;
  const token = await signToken(fixture.env, { ...device, ver }, { now: fixture.clock.now });
  const client = await openStream(fixture.gateway().base, { sessionId: device.sessionId, token }).catch(
    () => undefined,
  );
  if (client === undefined) return undefined;
  figures.streams += 1;
  const stream: Stream = { client, ver, mayEnd: new Set(), ended: undefined };
  client.closed.then(
    ({ code }) => {
      stream.ended = { code, at: performance.now() };
    },
    () => undefined,
  );
  for (const former of device.streams) former.mayEnd.add(4003);
  device.streams.push(stream);
  return stream;
}

/** Announces a change. If both ends are connected, expects every concerned stream to end at once. */
async function announce(device: Device, world: World, { fixture, figures }: Real): Promise<void> {
  const hears = !world.away.has('gateway') && (await isSubscribed(fixture));
  const concerned = device.streams.filter((stream) => isZombie(device, stream));
  const since = performance.now();
  const denial = device.isRevoked
    ? ({ kind: 'revoked', reason: 'LOGOUT_CONFIRMED' } as const)
    : ({ kind: 'below', ver: device.ver } as const);
  const isAnnounced = await fixture.announce(device.sessionId, denial);
  if (!isAnnounced || !hears) return;
  await eventually('the streams close at once', () => concerned.every(({ ended }) => ended !== undefined), atOnceMs);
  figures.atOnce.push(...concerned.map(({ ended }) => (ended?.at ?? 0) - since));
}

function fixAll({ proxies }: ZombieFixture): void {
  for (const proxy of Object.values(proxies)) {
    proxy.fix();
    proxy.release();
  }
}

async function isReady(fixture: ZombieFixture): Promise<boolean> {
  return (await fixture.gateway().unreadiness()).length === 0;
}

async function isSubscribed(fixture: ZombieFixture): Promise<boolean> {
  return !(await fixture.gateway().unreadiness()).some((reason) => reason.startsWith('redis:'));
}

async function commitLogout(device: Device, { fixture }: Real): Promise<void> {
  await fixture.revoke(device.sessionId);
  device.isRevoked = true;
}

const byDevice = (name: string, run: (device: Device, world: World, real: Real) => Promise<void>) =>
  fc
    .nat(deviceCount - 1)
    .map((index) => command(`${name} ${index}`, (world, real) => run(world.devices[index] as Device, world, real)));

const opens = byDevice('open', async (device, _world, real) => {
  await tryToOpen(device, real);
});

const logsOut = byDevice('log out', async (device, world, real) => {
  await commitLogout(device, real);
  await announce(device, world, real);
});

const commits = byDevice('commit the logout of', (device, _world, real) => commitLogout(device, real));

const announces = byDevice('announce', async (device, world, real) => {
  if (device.isRevoked || device.ver > 1) await announce(device, world, real);
});

const opensWhileLoggingOut = byDevice('open while logging out', async (device, world, real) => {
  await Promise.all([tryToOpen(device, real), commitLogout(device, real).then(() => announce(device, world, real))]);
});

const moves = byDevice('move', async (device, world, real) => {
  if (device.isRevoked) return;
  await real.fixture.move(device.sessionId, device.ver + 1);
  device.ver += 1;
  await announce(device, world, real);
});

const movesUnheard = byDevice('commit the move of', async (device, _world, real) => {
  if (device.isRevoked) return;
  await real.fixture.move(device.sessionId, device.ver + 1);
  device.ver += 1;
});

const refreshes = byDevice('refresh', async (device) => {
  if (!device.isRevoked) device.tokenVer = device.ver;
});

const parts = fc.constantFrom<Part>('gateway', 'api', 'worker');

const cuts = parts.map((part) =>
  command(`cut ${part}`, async ({ away }, { fixture }) => {
    fixture.proxies[part].cut();
    away.add(part);
  }),
);

const fixes = parts.map((part) =>
  command(`repair ${part}`, async ({ away }, { fixture }) => {
    fixture.proxies[part].fix();
    fixture.proxies[part].release();
    away.delete(part);
  }),
);

const fixesAll = fc.constant(
  command('repair all and wait', async ({ away }, { fixture }) => {
    fixAll(fixture);
    away.clear();
    await eventually('readiness', () => isReady(fixture));
  }),
);

const hangs = parts.map((part) =>
  command(`hang ${part}`, async ({ away }, { fixture }) => {
    fixture.proxies[part].hold('');
    away.add(part);
  }),
);

const emptiesRedis = fc.constant(command('empty Redis', (_world, { fixture }) => fixture.emptyRedis()));

const restarts = fc.constant(
  command('restart the gateway', async ({ devices }, { fixture }) => {
    for (const { streams } of devices) for (const { mayEnd } of streams) mayEnd.add(1001).add(1006);
    await fixture.restartGateway();
  }),
);

/** Asserts that no stream outlives its token while the gateway has no Redis. */
const outlives = fc.constant(
  command('cut gateway, and let the tokens expire', async ({ devices, away }, { fixture }) => {
    fixture.proxies.gateway.cut();
    away.add('gateway');
    const open = devices.flatMap(({ streams }) => streams).filter(({ ended }) => ended === undefined);
    for (const { mayEnd } of open) mayEnd.add(4002);
    fixture.clock.pass(tokenLifeMs + 1_000);
    await eventually(
      'all end with their tokens',
      () => open.every(({ ended }) => ended !== undefined),
      4_000 * patience,
    );
  }),
);

const waits = fc
  .nat(300)
  .map((ms) => command(`wait ${ms} ms`, () => new Promise((resolve) => setTimeout(resolve, ms))));

const often = <T>(times: number, arbitrary: T): T[] => Array.from({ length: times }, () => arbitrary);

export const course = fc.commands(
  [
    ...often(4, opens),
    ...often(2, logsOut),
    ...often(2, opensWhileLoggingOut),
    ...often(4, cuts),
    ...often(2, commits),
    ...[fixes, fixesAll, announces, moves, movesUnheard, refreshes, hangs, emptiesRedis, restarts, waits, outlives],
  ],
  { maxCommands: 24, size: 'max' },
);

/**
 * Connects all parts, and asserts that they converge. Within the promised time every zombie (a stream whose session or
 * claims have ended) is closed, even a zombie that opened during that time. After it no new zombie opens.
 */
export async function expectToConverge(world: World, real: Real, promisedMs: number): Promise<void> {
  const { fixture, figures } = real;
  fixAll(fixture);
  world.away.clear();
  const since = performance.now();
  const zombies = world.devices.flatMap((device) => device.streams.filter((stream) => isZombie(device, stream)));
  await eventually('every zombie is gone', () => zombies.every(({ ended }) => ended !== undefined), promisedMs);
  if (zombies.length > 0) figures.madeGood.push(Math.max(...zombies.map(({ ended }) => (ended?.at ?? 0) - since)));
  await eventually('readiness', () => isReady(fixture));
  await Promise.all(world.devices.map((device) => expectNoNewZombie(device, real, promisedMs)));
  expectNoneToEndUnasked(world);
  for (const stream of world.devices.flatMap(({ streams }) => streams)) stream.client.socket.terminate();
}

async function expectNoNewZombie(device: Device, real: Real, promisedMs: number): Promise<void> {
  if (!device.isRevoked && device.tokenVer >= device.ver) return;
  const isRefused = async () => (await tryToOpen(device, real)) === undefined;
  await eventually('the session is refused', isRefused, promisedMs);
  const isGone = () => device.streams.every((stream) => !isZombie(device, stream));
  await eventually('streams that got in meanwhile are gone', isGone, promisedMs);
}

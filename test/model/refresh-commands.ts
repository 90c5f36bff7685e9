import { createHash } from 'node:crypto';
import type { SessionDocument } from '@auth-account/stores/documents';
import type { RefreshTokens } from '@auth-account/tokens';
import { expect } from '@jest/globals';
import fc from 'fast-check';
import { type DeviceKey, refreshPath } from '../support/api/device-key.ts';
import type { TokenApi, TokenFixture } from '../support/api/token-api.ts';
import type { Answer } from '../support/http-client.ts';
import { type Expected, present, type SessionModel } from './session-model.ts';

/** The model's state, which is the session, and who holds which tokens. Tokens are named by their generation. */
export interface World {
  session: SessionModel;
  /** True if the session is bound to the owner's key, which a thief of tokens does not have. */
  readonly isBound: boolean;
  owner: number;
  /** Tokens of requests that the owner gave up and that may still arrive. */
  readonly twins: number[];
  /** All tokens that a thief ever held, newest last; empty if there is no thief. */
  readonly thief: number[];
  /** Copies of the session, oldest first. */
  readonly backups: SessionModel[];
  wasRestored: boolean;
}

/** The real session beside the model. */
export interface Real {
  readonly fixture: TokenFixture;
  readonly apis: TokenApi[];
  readonly refreshTokens: RefreshTokens;
  readonly sessionId: string;
  readonly nonce: Buffer;
  /** The tokens in the answers, by generation. */
  readonly texts: Map<number, string>;
  readonly backups: SessionDocument[];
  readonly ownerKey: DeviceKey;
  readonly thiefKey: DeviceKey;
  /** Number of requests so far, which go to the apis in turn. */
  requests: number;
}

export const windowMs = 30_000;
export const lifetime = { idle: 30 * 86_400_000, absolute: 180 * 86_400_000 };

type Command = fc.AsyncCommand<World, Real>;

interface CommandParts {
  readonly name: string;
  readonly check?: (world: Readonly<World>) => boolean;
  readonly run: (world: World, real: Real) => Promise<void>;
}

function command({ name, check = () => true, run }: CommandParts): Command {
  return { check, run, toString: () => name };
}

/** Presents a token to one of the apis, and compares answer and document with the model. */
export async function presentToBoth(
  world: World,
  real: Real,
  token: number,
  by: 'owner' | 'thief' = 'owner',
): Promise<Expected> {
  const at = real.fixture.clock.now();
  const isProven = !world.isBound || by === 'owner';
  const { expected, session } = present(world.session, token, at, { windowMs, idle: lifetime.idle, isProven });
  const api = real.apis[real.requests++ % real.apis.length] as TokenApi;
  const text = real.texts.get(token) as string;
  const key = by === 'owner' ? real.ownerKey : real.thiefKey;
  const hasProof = world.isBound && (by === 'owner' || real.requests % 2 === 0);
  const answer = await api.refresh(text, hasProof ? key.prove({ path: refreshPath, token: text, at }) : undefined);
  expectAnswer(real, answer, expected);
  world.session = session;
  const document = await real.fixture.collections.sessions.findOne({ _id: real.sessionId });
  const { newest, parent, isRevoked } = session;
  expect(document).toMatchObject({ gen: newest, parent, is_revoked: isRevoked });
  const hash = createHash('sha256')
    .update(real.texts.get(newest) ?? '')
    .digest('base64url');
  expect(document?.token).toBe(hash);
  return expected;
}

function expectAnswer(real: Real, { status, json }: Answer, expected: Expected): void {
  if ('refusal' in expected) {
    expect([status, json.error_code]).toEqual([401, `IAD_JWT_REFRESH_${expected.refusal}`]);
    return;
  }
  expect([status, json.error_code]).toEqual([200, undefined]);
  const text: string = json.data.refresh_token;
  expect(real.refreshTokens.parse(text)).toMatchObject({ sessionId: real.sessionId, generation: expected.answer });
  expect(real.refreshTokens.isGenuine(text, real.nonce)).toBe(true);
  // A generation's token is always the same, whichever api creates it, and whenever.
  expect(real.texts.get(expected.answer) ?? text).toBe(text);
  real.texts.set(expected.answer, text);
}

/** Asserts the first promise: without a thief, or if the session is bound, the owner is never logged out. */
async function presentOwners(world: World, real: Real, token: number): Promise<number | undefined> {
  const expected = await presentToBoth(world, real, token);
  if ('answer' in expected) return expected.answer;
  expect(world.thief).not.toEqual([]);
  expect(world.isBound).toBe(false);
  return undefined;
}

/** Drops requests that were given up. They arrive before the app's next refresh, or never. */
function dropOldTwins(world: World): void {
  world.twins.splice(0, world.twins.length, ...world.twins.filter((token) => token === world.owner));
}

const ownerRefreshes = command({
  name: 'the owner refreshes',
  async run(world, real) {
    dropOldTwins(world);
    world.owner = (await presentOwners(world, real, world.owner)) ?? world.owner;
  },
});

const ownerLosesTheAnswer = command({
  name: 'the owner refreshes, the answer is lost',
  async run(world, real) {
    dropOldTwins(world);
    await presentOwners(world, real, world.owner);
  },
});

const ownerGivesUp = command({
  name: 'the owner gives up a request that is on its way',
  async run(world) {
    dropOldTwins(world);
    world.twins.push(world.owner);
  },
});

const twinArrives = command({
  name: 'a request arrives that was given up',
  check: ({ twins }) => twins.length > 0,
  async run(world, real) {
    await presentOwners(world, real, world.twins.shift() as number);
  },
});

const thiefCopies = command({
  name: 'a thief copies the owner’s token',
  async run(world) {
    world.thief.push(world.owner);
  },
});

/** `choice` selects the thief's token, counted back from the newest. Without `isKept`, the thief loses the new one. */
const thiefRefreshes = (choice: number, isKept: boolean) =>
  command({
    name: `the thief refreshes by his token ${choice} back and ${isKept ? 'keeps' : 'loses'} the answer`,
    check: ({ thief }) => thief.length > 0,
    async run(world, real) {
      const token = world.thief.at(-1 - (choice % world.thief.length)) as number;
      const expected = await presentToBoth(world, real, token, 'thief');
      if (isKept && 'answer' in expected) world.thief.push(expected.answer);
    },
  });

const timePasses = (ms: number) =>
  command({
    name: `${ms / 1000} s pass`,
    async run(_, real) {
      real.fixture.clock.pass(ms);
    },
  });

const apiRestarts = (which: number) =>
  command({
    name: `api ${which} restarts`,
    async run(_, real) {
      await real.apis[which]?.close();
      real.apis[which] = await real.fixture.start();
    },
  });

const backupIsMade = command({
  name: 'a backup is made',
  async run(world, real) {
    world.backups.push(world.session);
    real.backups.push((await real.fixture.collections.sessions.findOne({ _id: real.sessionId })) as SessionDocument);
  },
});

/** `choice` selects the backup, counted back from the newest. The backups made after it are dropped. */
const backupIsRestored = (choice: number) =>
  command({
    name: `the backup ${choice} back is restored`,
    check: ({ backups }) => backups.length > 0,
    async run(world, real) {
      const index = world.backups.length - 1 - (choice % world.backups.length);
      world.session = world.backups[index] as SessionModel;
      world.wasRestored = true;
      const document = real.backups[index] as SessionDocument;
      world.backups.splice(index + 1);
      real.backups.splice(index + 1);
      await real.fixture.collections.sessions.replaceOne({ _id: real.sessionId }, document);
    },
  });

const pause = fc.oneof(
  fc.constantFrom(1, windowMs - 1, windowMs, windowMs + 1),
  fc.integer({ min: 1_000, max: 120_000 }),
  fc.integer({ min: 600_000, max: 8 * 3_600_000 }),
);

const honest: fc.Arbitrary<Command>[] = [
  fc.constant(ownerRefreshes),
  fc.constant(ownerLosesTheAnswer),
  fc.constant(ownerGivesUp),
  fc.constant(twinArrives),
  pause.map(timePasses),
  pause.map(timePasses),
];
const disasters: fc.Arbitrary<Command>[] = [
  fc.constant(backupIsMade),
  fc.nat({ max: 2 }).map(backupIsRestored),
  // A restart takes as long as fifty refreshes, so only one in six draws restarts an api.
  fc.nat({ max: 11 }).map((which) => (which < 2 ? apiRestarts(which) : timePasses(1_000))),
];
const theft: fc.Arbitrary<Command>[] = [
  fc.constant(thiefCopies),
  fc.tuple(fc.nat({ max: 2 }), fc.boolean()).map(([choice, isKept]) => thiefRefreshes(choice, isKept)),
  fc.constant(thiefRefreshes(0, true)),
];

/** A course of an owner alone, with everything that can go wrong without a thief. */
export const honestCourse = fc.commands([...honest, ...honest, ...disasters], { maxCommands: 40, size: 'max' });
/** A course of an owner and a thief. */
export const stolenCourse = fc.commands([...honest, ...theft, ...theft, ...disasters], {
  maxCommands: 40,
  size: 'max',
});

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { SessionDocument } from '@auth-account/stores/documents';
import { createRefreshTokens, loadKeyFile, type RefreshTokens } from '@auth-account/tokens';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Binary } from 'mongodb';
import { precomputedHashes } from '../../services/api/src/usecases/sessions/session.ts';
import { newSession } from '../support/api/accounts.ts';
import { newDeviceKey } from '../support/api/device-key.ts';
import { openTokenFixture, type TokenApi, type TokenFixture } from '../support/api/token-api.ts';
import { serviceEnvironment } from '../support/service-environment.ts';
import { newSeeds } from './new-seeds.ts';
import { showProgress } from './progress.ts';
import {
  honestCourse,
  lifetime,
  presentToBoth,
  type Real,
  stolenCourse,
  type World,
  windowMs,
} from './refresh-commands.ts';
import { newSessionModel } from './session-model.ts';

/** Seconds for random courses of each kind; `npm run test:long model` asks for more. */
const seconds = Number(process.env.MODEL_SECONDS ?? 3);
const nextSeed = newSeeds();
const timeoutMs = 300_000 + seconds * 2_000;

const ownerKey = newDeviceKey();
const thiefKey = newDeviceKey();

let courses = 0;
let requests = 0;
let fixture: TokenFixture;
let apis: TokenApi[];
let refreshTokens: RefreshTokens;
let sample: SessionDocument;

beforeAll(async () => {
  fixture = await openTokenFixture();
  apis = [await fixture.start(), await fixture.start()];
  refreshTokens = createRefreshTokens(await loadKeyFile(serviceEnvironment('').REFRESH_TOKEN_KEYS_FILE ?? ''));
  const { session_id } = await newSession(apis[0] as TokenApi);
  sample = (await fixture.collections.sessions.findOne({ _id: session_id })) as SessionDocument;
});
afterAll(() => {
  if (process.env.MODEL_FIGURES) console.log({ courses, requests });
  return fixture.close();
});

/** Creates a session as a login does, but without a login's cost. */
async function begin(isBound: boolean): Promise<{ model: World; real: Real }> {
  const at = fixture.clock.now();
  const sessionId = randomUUID();
  const nonce = randomBytes(32);
  const token = { kid: refreshTokens.currentKid, sessionId, generation: 1 };
  const first = refreshTokens.issue(token, nonce);
  await fixture.collections.sessions.insertOne({
    ...sample,
    _id: sessionId,
    token: createHash('sha256').update(first).digest('base64url'),
    ahead: precomputedHashes(refreshTokens, token, nonce),
    nonce: new Binary(nonce),
    device_id: randomUUID(),
    ...(isBound && { cnf: { jkt: ownerKey.jkt } }),
    handed_out_at: new Date(at),
    created_at: new Date(at),
    last_used_at: new Date(at),
    expires_at: new Date(at + lifetime.idle),
    absolute_expires_at: new Date(at + lifetime.absolute),
  });
  const model = {
    session: newSessionModel(at, lifetime),
    isBound,
    owner: 1,
    twins: [],
    thief: [],
    backups: [],
    wasRestored: false,
  };
  const texts = new Map([[1, first]]);
  return {
    model,
    real: { fixture, apis, refreshTokens, sessionId, nonce, texts, ownerKey, thiefKey, backups: [], requests: 0 },
  };
}

/**
 * Asserts the second promise: whatever happened before, owner and thief do not both survive if they now refresh with
 * their newest tokens, more than a window apart. One round of refreshes is enough if both tokens were handed out and
 * not presented yet. A second round is needed if one of them holds a token that the other has presented. A third round
 * is needed after a restore, because the restored session may hand out a token of one to the other, as after a theft.
 */
async function expectOneToEnd(world: World, real: Real): Promise<void> {
  const thiefs = () => world.thief.at(-1) as number;
  const bothHoldChildren = [world.owner, thiefs()].every((token) => world.session.children.has(token));
  const rounds = bothHoldChildren && world.owner !== thiefs() ? 1 : 2;
  for (let round = 0; round < (world.wasRestored ? 3 : rounds) && !world.session.isRevoked; round += 1) {
    fixture.clock.pass(windowMs + 1);
    const owners = await presentToBoth(world, real, world.owner);
    if ('answer' in owners) world.owner = owners.answer;
    fixture.clock.pass(windowMs + 1);
    const next = await presentToBoth(world, real, thiefs(), 'thief');
    if ('answer' in next) world.thief.push(next.answer);
  }
  expect(world.session.isRevoked).toBe(true);
  for (const token of [world.owner, thiefs()]) {
    expect(await presentToBoth(world, real, token)).toEqual({ refusal: 'STOLEN' });
  }
}

/**
 * Replaces fast-check's own time limit, which leaves the last course running. That would restart apis during the next
 * test.
 */
async function assertForAWhile(property: fc.IAsyncProperty<unknown>): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  do {
    await fc.assert(property, { numRuns: 10, ...nextSeed() });
    showProgress(process.env.MODEL_SECONDS === undefined, { courses, requests });
  } while (performance.now() < end);
}

// guarantees: owner-stays-logged-in
test(
  'an owner who keeps the client rules is never logged out, and every answer is the model’s',
  async () => {
    const property = fc.asyncProperty(fc.boolean(), honestCourse, async (isBound, course) => {
      const begun = await begin(isBound);
      await fc.asyncModelRun(() => begun, course);
      courses += 1;
      requests += begun.real.requests;
      // At the end the session is still live, so its owner can refresh once more.
      expect(await presentToBoth(begun.model, begun.real, begun.model.owner)).toHaveProperty('answer');
    });
    await assertForAWhile(property);
  },
  timeoutMs,
);

// guarantees: theft-ends-session
test(
  'if there is a thief, every answer is the model’s, and the two never both live on',
  async () => {
    const property = fc.asyncProperty(fc.boolean(), stolenCourse, async (isBound, course) => {
      const begun = await begin(isBound);
      await fc.asyncModelRun(() => begun, course);
      courses += 1;
      requests += begun.real.requests;
      // A thief without the key of a bound session does nothing to its owner.
      if (isBound) expect(await presentToBoth(begun.model, begun.real, begun.model.owner)).toHaveProperty('answer');
      else if (begun.model.thief.length > 0) await expectOneToEnd(begun.model, begun.real);
    });
    await assertForAWhile(property);
  },
  timeoutMs,
);

import { createHash, createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { AppError } from '@auth-account/errors';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import type { ServerSecrets } from '../../../services/api/src/security/server-secrets.ts';
import {
  createOncePerChallenge,
  createOncePerProof,
} from '../../../services/api/src/usecases/proofs/once-per-proof.ts';
import { createPasskeyProof } from '../../../services/api/src/usecases/proofs/passkey-proof.ts';
import { createSpendProof, spentBy, useProof } from '../../../services/api/src/usecases/proofs/use-proof.ts';
import { storesOf } from '../../support/stores-of.ts';
import { openUseCaseScene, readsOf, type UseCaseScene } from '../../support/use-case-scene.ts';

let scene: UseCaseScene;
beforeAll(async () => {
  scene = await openUseCaseScene();
});
beforeEach(() => scene.clear());
afterAll(() => scene.close());

const newSecret = () => createSecretKey(randomBytes(32));
const [elder, newer] = [newSecret(), newSecret()];
const newSpend = (code = '12345678') => ({
  id: randomUUID(),
  proof: ['email_code', code, 'a device', null],
  until: new Date(Date.now() + 600_000),
});

/** Uses a challenge up under the first secret, and returns its record. */
async function use(spend: ReturnType<typeof newSpend>, ...secrets: ReturnType<ServerSecrets>) {
  const { spentProofs } = storesOf(scene.collections);
  const record = spentBy(spend, secrets);
  await spentProofs.spend({ ...record, at: scene.now() });
  return record;
}

/** Sends the proof to an api with these secrets, which does that work if it is the first. */
function send(spend: ReturnType<typeof newSpend>, work: () => Promise<string>, ...secrets: ReturnType<ServerSecrets>) {
  const { spentProofs } = storesOf(scene.collections);
  const oncePerProof = createOncePerProof({ spentProofs, secrets: () => secrets, now: scene.now });
  return oncePerProof(spend, work, async () => 'again');
}

/** Sends the proof again to an api with these secrets. */
const again = (spend: ReturnType<typeof newSpend>, ...secrets: ReturnType<ServerSecrets>) =>
  send(spend, async () => 'first', ...secrets);

test('the record of a used proof reveals it to nobody without the server’s key', async () => {
  const spend = newSpend();
  const [record, other] = [spentBy(spend, [elder]), spentBy(spend, [newer])];
  expect(record.proof).not.toBe(other.proof);
  expect(spentBy(spend, [elder])).toEqual(record);
  // A hash without a key shows a code of 8 digits to anybody who tries them all, and a challenge to nobody.
  expect(record).toEqual({
    _id: createHash('sha256').update(spend.id).digest('base64url'),
    proof: createHmac('sha256', elder)
      .update(`spent-proof:${JSON.stringify(spend.proof)}`)
      .digest('base64url'),
    key: createHmac('sha256', elder).update(`spent-proof-key:${spend.id}`).digest('base64url'),
    until: spend.until,
  });
});

test('a repeated proof gets its answer for a minute', async () => {
  const spend = newSpend();
  await use(spend, elder);
  scene.pass(59_999);
  expect(await again(spend, elder)).toBe('again');
  scene.pass(1);
  await expect(again(spend, elder)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
});

describe('a request that fails because another one came first', () => {
  /** Uses the challenge up by that proof while the work runs, which then fails. */
  const overtaken = (spend: ReturnType<typeof newSpend>, by: ReturnType<typeof newSpend> | undefined, error: Error) =>
    send(
      spend,
      async () => {
        if (by !== undefined) await use(by, elder);
        throw error;
      },
      elder,
    );
  const refused = new AppError('ERR-CODE-INVALID', { details: { tries_left: 3 } });

  test('a request that fails because another one with the same proof came first gets its answer', async () => {
    const spend = newSpend();
    expect(await overtaken(spend, spend, refused)).toBe('again');
  });

  test('a request that fails because another one with another proof came first is refused as expired', async () => {
    const spend = newSpend();
    const other = { ...newSpend('87654321'), id: spend.id };
    await expect(overtaken(spend, other, refused)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
  });

  test('a request gets its own error if no other came first, or if the error is an outage', async () => {
    await expect(overtaken(newSpend(), undefined, refused)).rejects.toBe(refused);
    const spend = newSpend();
    const away = new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 2 });
    for (const outage of [away, new AppError('ERR-INTERNAL'), new Error('x')]) {
      const one = { ...newSpend(), proof: spend.proof };
      await expect(overtaken(one, one, outage)).rejects.toBe(outage);
    }
  });
});

describe('a login that uses a challenge up', () => {
  const spendBy = (spend: ReturnType<typeof newSpend>, sessionId: string) => {
    const { spentProofs } = storesOf(scene.collections);
    const spendProof = createSpendProof({ spentProofs, secrets: () => [elder] });
    return scene.mongo.withSession((session) =>
      session.withTransaction(() => spendProof(spend, { sessionId, at: scene.now() }, session)),
    );
  };

  /** Sends the login again, and returns the reads of its session too. */
  async function repeat(spend: ReturnType<typeof newSpend>) {
    const { sessions, reads } = readsOf(scene);
    const { refreshTokens, issueTokens, audit, now } = scene;
    const { spentProofs } = storesOf(scene.collections);
    const deps = { spentProofs, refreshTokens, issueTokens, audit, now, secrets: () => [elder] as const };
    const oncePerChallenge = createOncePerChallenge({ ...deps, sessions });
    const open = () => Promise.reject(new Error('opened'));
    return { data: await oncePerChallenge(spend, open, scene.origin), reads };
  }

  test('a login uses up a challenge only once', async () => {
    const spend = newSpend();
    await spendBy(spend, 'one');
    await expect(spendBy(spend, 'other')).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
  });

  test('a repeated login is answered with the same session', async () => {
    const { document } = await scene.session();
    const { _id: session_id, user_id } = document;
    const spend = newSpend();
    await spendBy(spend, session_id);
    const { data, reads } = await repeat(spend);
    expect([data.session_id, reads]).toEqual([session_id, ['find']]);
    expect(scene.audited).toEqual([[{ event: 'login.verified', user_id, session_id }, scene.origin]]);
  });

  test.each(['ended', 'gone'])('a repeated login is refused as expired once its session has %s', async (how) => {
    const { document } = await scene.session({ is_revoked: true });
    const spend = newSpend();
    await spendBy(spend, how === 'ended' ? document._id : randomUUID());
    await expect(repeat(spend)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
    expect(scene.audited).toEqual([]);
  });

  test('a repeated login waits for the key of its session, which may not have arrived yet', async () => {
    const { document } = await scene.session({ kid: 'another' });
    const spend = newSpend();
    await spendBy(spend, document._id);
    await expect(repeat(spend)).rejects.toMatchObject({ name: 'MissingKeyError' });
  });
});

test('the counter of an assertion is compared with the one that its transaction finds, and never stored lower', async () => {
  const passkey = {
    ...{
      id: randomUUID(),
      credential_id: 'credential',
      public_key: new Binary(Buffer.alloc(1)),
      counter: 6,
      name: null,
    },
    ...{ transports: [], is_backup_eligible: false, is_backed_up: false, created_at: scene.now() },
  };
  const user = await scene.user({ passkeys: [passkey] });
  const deps = { ...storesOf(scene.collections), audit: scene.audit, ids: { entityId: () => randomUUID() } };
  const of = { user, at: scene.now(), origin: scene.origin };
  const shown = { id: 'credential', response: {} } as UsedCredential;
  const rules = { requireUv: true, requireHandle: false };
  // All are checked against the account as it is now, before the first is used.
  const proofs = await Promise.all(
    [7, 7, 9, 8].map((counter) => {
      const assertion = { counter, isUserVerified: true, isBackupEligible: false, isBackedUp: false };
      const prove = createPasskeyProof({
        verifier: { verifyUse: async () => assertion },
        refusePasskey: () => new AppError('ERR-PASSKEY-INVALID'),
      });
      return prove(user, { challengeId: 'challenge', credential: shown }, rules, scene.origin);
    }),
  );
  const results: unknown[] = [];
  for (const proof of proofs) {
    const { audit } = await scene.mongo.withSession((session) =>
      session.withTransaction(() => useProof(deps, proof, of, session)),
    );
    const stored = await scene.collections.users.findOne({ _id: user._id });
    results.push([stored?.passkeys?.[0]?.counter, audit.map(({ event }) => event)]);
  }
  const fell = ['passkey.counter_fell'];
  expect(results).toEqual([
    [7, []],
    [7, fell],
    [9, []],
    [9, fell],
  ]);
});

// guarantees: unknown-key-503
test('a repeated proof is recognised as long as its key is there', async () => {
  const spend = newSpend();
  await use(spend, elder);
  expect([await again(spend, elder), await again(spend, newer, elder)]).toEqual(['again', 'again']);
  await expect(again(spend, newer)).rejects.toMatchObject({ name: 'MissingKeyError' });
});

test('another proof of a used challenge is refused, and another challenge is not used', async () => {
  const spend = newSpend();
  await use(spend, elder);
  const other = { ...newSpend('87654321'), id: spend.id };
  await expect(again(other, elder)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
  expect(await again(newSpend(), elder)).toBe('first');
});

import { createHash, createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import type { UsedCredential } from '@auth-account/contracts/http/passkey-credentials';
import { AppError } from '@auth-account/errors';
import type { PresentUser } from '@auth-account/stores';
import type { PasskeyDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import type { ServerSecrets } from '../../../services/api/src/security/server-secrets.ts';
import { consumedBy, createConsumeProof } from '../../../services/api/src/usecases/proofs/consume-proof.ts';
import {
  createOncePerChallenge,
  createOncePerProof,
  deviceOfProof,
} from '../../../services/api/src/usecases/proofs/once-per-proof.ts';
import { createPasskeyProof } from '../../../services/api/src/usecases/proofs/passkey-proof.ts';
import { type RightProof, useProof } from '../../../services/api/src/usecases/proofs/use-proof.ts';
import { openUseCaseFixture, readsOf, type UseCaseFixture } from '../../support/api/use-case-fixture.ts';
import { storesOf } from '../../support/stores/stores-of.ts';

let fixture: UseCaseFixture;
beforeAll(async () => {
  fixture = await openUseCaseFixture();
});
beforeEach(() => fixture.clear());
afterAll(() => fixture.close());

const newSecret = () => createSecretKey(randomBytes(32));
const [elder, newer] = [newSecret(), newSecret()];
const newChallengeUse = (code = '12345678') => ({
  id: randomUUID(),
  proof: ['email_code', code, 'a device', null],
  until: new Date(Date.now() + 600_000),
});

/** Uses a challenge up under the first secret, and returns its record. */
async function use(challengeUse: ReturnType<typeof newChallengeUse>, ...secrets: ReturnType<ServerSecrets>) {
  const { consumedProofs } = storesOf(fixture.collections);
  const record = consumedBy(challengeUse, secrets);
  await consumedProofs.consume({ ...record, at: fixture.now() });
  return record;
}

/** Sends the proof to an api with these secrets, which does that work if it is the first. */
function send(
  challengeUse: ReturnType<typeof newChallengeUse>,
  work: () => Promise<string>,
  ...secrets: ReturnType<ServerSecrets>
) {
  const { consumedProofs } = storesOf(fixture.collections);
  const oncePerProof = createOncePerProof({ consumedProofs, secrets: () => secrets, now: fixture.now });
  return oncePerProof(challengeUse, work, async () => 'again');
}

/** Sends the proof again to an api with these secrets. */
const again = (challengeUse: ReturnType<typeof newChallengeUse>, ...secrets: ReturnType<ServerSecrets>) =>
  send(challengeUse, async () => 'first', ...secrets);

test('the record of a used proof reveals it to nobody without the server’s key', async () => {
  const challengeUse = newChallengeUse();
  const [record, other] = [consumedBy(challengeUse, [elder]), consumedBy(challengeUse, [newer])];
  expect(record.proof).not.toBe(other.proof);
  expect(consumedBy(challengeUse, [elder])).toEqual(record);
  // A hash without a key shows a code of 8 digits to anybody who tries them all, and a challenge to nobody.
  expect(record).toEqual({
    _id: createHash('sha256').update(challengeUse.id).digest('base64url'),
    proof: createHmac('sha256', elder)
      .update(`spent-proof:${JSON.stringify(challengeUse.proof)}`)
      .digest('base64url'),
    key: createHmac('sha256', elder).update(`spent-proof-key:${challengeUse.id}`).digest('base64url'),
    until: challengeUse.until,
  });
});

test('a repeated proof gets its answer for a minute', async () => {
  const challengeUse = newChallengeUse();
  await use(challengeUse, elder);
  fixture.pass(59_999);
  expect(await again(challengeUse, elder)).toBe('again');
  fixture.pass(1);
  await expect(again(challengeUse, elder)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
});

describe('a request that fails because another one came first', () => {
  /** Uses the challenge up by that proof while the work runs, which then fails. */
  const overtaken = (
    challengeUse: ReturnType<typeof newChallengeUse>,
    by: ReturnType<typeof newChallengeUse> | undefined,
    error: Error,
  ) =>
    send(
      challengeUse,
      async () => {
        if (by !== undefined) await use(by, elder);
        throw error;
      },
      elder,
    );
  const refused = new AppError('ERR-CODE-INVALID', { details: { tries_left: 3 } });

  test('a request that fails because another one with the same proof came first gets its answer', async () => {
    const challengeUse = newChallengeUse();
    expect(await overtaken(challengeUse, challengeUse, refused)).toBe('again');
  });

  test('a request that fails because another one with another proof came first is refused as expired', async () => {
    const challengeUse = newChallengeUse();
    const other = { ...newChallengeUse('87654321'), id: challengeUse.id };
    await expect(overtaken(challengeUse, other, refused)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
  });

  test('a request gets its own error if no other came first, or if the error is an outage', async () => {
    await expect(overtaken(newChallengeUse(), undefined, refused)).rejects.toBe(refused);
    const challengeUse = newChallengeUse();
    const away = new AppError('ERR-DEPENDENCY-UNAVAILABLE', { retryAfterSeconds: 2 });
    for (const outage of [away, new AppError('ERR-INTERNAL'), new Error('x')]) {
      const one = { ...newChallengeUse(), proof: challengeUse.proof };
      await expect(overtaken(one, one, outage)).rejects.toBe(outage);
    }
  });
});

describe('a login that uses a challenge up', () => {
  const consumeBy = (challengeUse: ReturnType<typeof newChallengeUse>, sessionId: string) => {
    const { consumedProofs } = storesOf(fixture.collections);
    const consumeProof = createConsumeProof({ consumedProofs, secrets: () => [elder] });
    return fixture.mongo.withSession((session) =>
      session.withTransaction(() => consumeProof(challengeUse, { sessionId, at: fixture.now() }, session)),
    );
  };

  /** Sends the login again, and returns the reads of its session too. */
  async function repeat(challengeUse: ReturnType<typeof newChallengeUse>) {
    const { sessions, reads } = readsOf(fixture);
    const { refreshTokens, issueTokens, audit, now } = fixture;
    const { consumedProofs } = storesOf(fixture.collections);
    const deps = { consumedProofs, refreshTokens, issueTokens, audit, now, secrets: () => [elder] as const };
    const oncePerChallenge = createOncePerChallenge({ ...deps, sessions });
    const open = () => Promise.reject(new Error('opened'));
    return { data: await oncePerChallenge(challengeUse, open, fixture.origin), reads };
  }

  test('a login uses up a challenge only once', async () => {
    const challengeUse = newChallengeUse();
    await consumeBy(challengeUse, 'one');
    await expect(consumeBy(challengeUse, 'other')).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
  });

  test('a repeated login is answered with the same session', async () => {
    const { document } = await fixture.session();
    const { _id: session_id, user_id } = document;
    const challengeUse = newChallengeUse();
    await consumeBy(challengeUse, session_id);
    const { data, reads } = await repeat(challengeUse);
    expect([data.session_id, reads]).toEqual([session_id, ['find']]);
    expect(fixture.audited).toEqual([[{ event: 'login.verified', user_id, session_id }, fixture.origin]]);
  });

  test.each(['ended', 'gone'])('a repeated login is refused as expired once its session has %s', async (how) => {
    const { document } = await fixture.session({ is_revoked: true });
    const challengeUse = newChallengeUse();
    await consumeBy(challengeUse, how === 'ended' ? document._id : randomUUID());
    await expect(repeat(challengeUse)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
    expect(fixture.audited).toEqual([]);
  });

  test('a repeated login waits for the key of its session, which may not have arrived yet', async () => {
    const { document } = await fixture.session({ kid: 'another' });
    const challengeUse = newChallengeUse();
    await consumeBy(challengeUse, document._id);
    await expect(repeat(challengeUse)).rejects.toMatchObject({ name: 'MissingKeyError', kind: 'refresh' });
  });

  test.each<[string, string | null | undefined, object, unknown[]]>([
    ['its id in either case', '7D0F7A34-52F1', {}, ['7d0f7a34-52f1', null]],
    ['the key that it has proven', undefined, { proof: { jkt: 'key' } }, [null, 'key']],
    ['no id if it has sent none', null, {}, [null, null]],
  ])('a repeated login must come from the same device, which is known by %s', (_, deviceId, shown, expected) => {
    expect(deviceOfProof(deviceId, { ...fixture.origin, ...shown })).toEqual(expected);
  });
});

describe('the use of a proof', () => {
  const newPasskey = (fields: Partial<PasskeyDocument> = {}): PasskeyDocument => ({
    ...{ id: randomUUID(), credential_id: 'credential', public_key: new Binary(Buffer.alloc(1)), counter: 6 },
    ...{ name: null, transports: [], is_backup_eligible: false, is_backed_up: false, created_at: fixture.now() },
    ...fields,
  });

  /** Uses the proof in a transaction of its own, and returns its announcements. */
  function use(user: PresentUser, proof: RightProof) {
    const deps = { ...storesOf(fixture.collections), audit: fixture.audit, ids: { entityId: () => randomUUID() } };
    const of = { user, at: fixture.now(), origin: fixture.origin };
    return fixture.mongo.withSession((session) => session.withTransaction(() => useProof(deps, proof, of, session)));
  }

  const byPasskey = (passkeyId: string, counter: number, is_backup_eligible = false) => ({
    ...{ kind: 'passkey' as const, passkeyId, state: { counter, is_backup_eligible, is_backed_up: false } },
    auth: { amr: ['hwk'], acr: '1' as const },
  });

  test('the counter of an assertion is compared with the one that its transaction finds, and never stored lower', async () => {
    const user = await fixture.user({ passkeys: [newPasskey()] });
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
        return prove(user, { challengeId: 'challenge', credential: shown }, rules, fixture.origin);
      }),
    );
    const results: unknown[] = [];
    for (const proof of proofs) {
      const { audit } = await use(user, proof);
      const stored = await fixture.collections.users.findOne({ _id: user._id });
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

  const [fell, eligible] = ['passkey.counter_fell', 'passkey.backup_eligible'];

  test.each<[string, [number, boolean], [number, boolean], string[]]>([
    ['has counted on', [6, false], [7, false], []],
    ['does not count', [0, false], [0, false], []],
    ['begins to count', [0, false], [1, false], []],
    ['counts no longer', [6, false], [0, false], [fell]],
    ['may be backed up now', [6, false], [7, true], [eligible]],
    ['could be backed up before', [6, true], [7, true], []],
    ['has lost both', [6, true], [6, false], [fell]],
  ])('a passkey that %s, as login or second factor, is audited as such', async (_, before, after, events) => {
    const [[counter, is_backup_eligible], [next, isEligible]] = [before, after];
    const passkey = newPasskey({ counter, is_backup_eligible });
    const auditOf = ({ _id: user_id }: PresentUser) =>
      events.map((event) => ({ event, user_id, passkey_id: passkey.id }));
    const proof = byPasskey(passkey.id, next, isEligible);
    const [one, other] = [await fixture.user({ passkeys: [passkey] }), await fixture.user({ passkeys: [passkey] })];
    expect(await use(one, proof)).toEqual({ events: [], audit: auditOf(one) });
    const attempt = { triesLeft: 4, succeed: async () => undefined } as never;
    const succeeded = { event: 'second_factor.succeeded', user_id: other._id, method: 'passkey' };
    expect(await use(other, { kind: 'second_factor', by: proof, amr: ['hwk'], attempt })).toEqual({
      events: [],
      audit: [succeeded, ...auditOf(other)],
    });
  });

  test('a passkey that was removed since it was checked is refused', async () => {
    const user = await fixture.user({ passkeys: [newPasskey()] });
    await expect(use(user, byPasskey(randomUUID(), 7))).rejects.toMatchObject({ code: 'ERR-PASSKEY-INVALID' });
  });

  test('a code from the mailbox announces nothing itself', async () => {
    const user = await fixture.user();
    const challengeId = randomUUID();
    const [at, later] = [fixture.now(), new Date(fixture.now().getTime() + 600_000)];
    await fixture.collections.challenges.insertOne({
      ...{ _id: challengeId, purpose: 'login', user_id: user._id, kid: 'k', tries_left: 5, resends_left: 3 },
      ...{ resend_at: later, created_at: at, expires_at: later, ended_at: null, purge_at: later },
    });
    const proof = { kind: 'email_code', user, challengeId, usedBy: randomUUID() } as const;
    expect(await use(user, proof)).toEqual({ events: [], audit: [] });
  });
});

// guarantees: unknown-key-503
test('a repeated proof is recognised as long as its key is there', async () => {
  const challengeUse = newChallengeUse();
  await use(challengeUse, elder);
  expect([await again(challengeUse, elder), await again(challengeUse, newer, elder)]).toEqual(['again', 'again']);
  await expect(again(challengeUse, newer)).rejects.toMatchObject({ name: 'MissingKeyError' });
});

test('another proof of a used challenge is refused, and another challenge is not used', async () => {
  const challengeUse = newChallengeUse();
  await use(challengeUse, elder);
  const other = { ...newChallengeUse('87654321'), id: challengeUse.id };
  for (const repeated of [() => again(other, elder), () => again(other, newer, elder)]) {
    await expect(repeated()).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
  }
  expect(await again(newChallengeUse(), elder)).toBe('first');
});

test('another proof of a challenge that an earlier version of the service has used, without a mark of its key, is refused', async () => {
  const challengeUse = newChallengeUse();
  const { key: _, ...record } = consumedBy(challengeUse, [elder]);
  await storesOf(fixture.collections).consumedProofs.consume({ ...record, at: fixture.now() });
  const other = { ...newChallengeUse('87654321'), id: challengeUse.id };
  await expect(again(other, newer)).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
});

import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { AppError } from '@auth-account/errors';
import { createAccountEvent } from '@auth-account/messaging';
import { createTransactionRunner, type PresentUser } from '@auth-account/stores';
import { credentialsVersion } from '@auth-account/stores/credentials';
import type { SessionDocument, UserDocument } from '@auth-account/stores/documents';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Binary } from 'mongodb';
import { createOpenIdempotent } from '../../../services/api/src/idempotency/open-idempotent.ts';
import { RequestAbandoned } from '../../../services/api/src/request/assert-client-connected.ts';
import { createIds } from '../../../services/api/src/request/ids.ts';
import type { HashedFor, HashTurn } from '../../../services/api/src/security/password-hasher.ts';
import type { ServerSecrets } from '../../../services/api/src/security/server-secrets.ts';
import { createLogIn, type LogInDeps as PasswordDeps } from '../../../services/api/src/usecases/login/log-in.ts';
import { createOpenSession, type OpenSessionDeps } from '../../../services/api/src/usecases/login/open-session.ts';
import type { ProvedLogin } from '../../../services/api/src/usecases/login/proved-login.ts';
import { type AuthenticateDeps, createAuthenticate } from '../../../services/api/src/usecases/proofs/check-password.ts';
import { createConsumeProof } from '../../../services/api/src/usecases/proofs/consume-proof.ts';
import type { RightCode } from '../../../services/api/src/usecases/proofs/use-proof.ts';
import { newUserDocument } from '../../support/api/seed-accounts.ts';
import { newSessionDocument } from '../../support/api/session-document.ts';
import {
  hashOf,
  openUseCaseFixture,
  recordedAttempt,
  type UseCaseFixture,
} from '../../support/api/use-case-fixture.ts';
import { storesOf } from '../../support/stores/stores-of.ts';

type LogInDeps = Pick<PasswordDeps, 'openIdempotent'> & AuthenticateDeps & OpenSessionDeps;

const password = 'correct horse battery';
const lifetime = { idleSeconds: 7_200, absoluteSeconds: 86_400 };
const madeUp = 'a device id that was made up';

let fixture: UseCaseFixture;
/** Calls to the limits, in order. */
let limitCalls: unknown[];
beforeAll(async () => {
  fixture = await openUseCaseFixture();
  await fixture.collections.sessions.createIndex(
    { user_id: 1, device_id: 1 },
    { name: 'any name', unique: true, partialFilterExpression: { is_revoked: false } },
  );
});
beforeEach(async () => {
  limitCalls = [];
  await fixture.clear();
});
afterAll(() => fixture.close());

const limits: LogInDeps['limits'] = {
  async logIn(login, origin) {
    limitCalls.push(['asked', login, origin]);
    return recordedAttempt(limitCalls);
  },
};

/** Hashing is not under test here, so a hash is the password behind a prefix. */
const turn: HashTurn = {
  hash: async (text) => `hash of: ${text}`,
  verify: async (stored, text) => stored === `hash of: ${text}` || stored === `weak hash of: ${text}`,
};
const hasher: LogInDeps['hasher'] = {
  admit: (_client, use) => use(turn),
  unusableHash: () => 'void',
  isWeak: (stored) => stored.startsWith('weak'),
};

/** Returns the hasher with overrides of `turn`, which may depend on the client. */
const hasherWith = (other: (client: HashedFor) => Partial<HashTurn>): LogInDeps['hasher'] => ({
  ...hasher,
  admit: (client, use) => use({ ...turn, ...other(client) }),
});

/** Returns the dependencies of a login, some of them as given. */
function depsWith(deps: Partial<LogInDeps>): LogInDeps {
  const { users, sessions, commit, refreshTokens, issueTokens, audit, now } = fixture;
  const ids = {
    entityId: () => randomUUID(),
    groupId: () => randomUUID(),
    deviceId: () => madeUp,
    challengeId: randomUUID,
    inviteToken: () => randomUUID(),
  };
  const { idempotency, consumedProofs, challenges, passkeys, secondFactors } = storesOf(fixture.collections);
  const secrets: ServerSecrets = () => [createSecretKey(randomBytes(32))];
  const openIdempotent = createOpenIdempotent({ idempotency, secrets, now });
  const own = {
    openIdempotent,
    consumeProof: createConsumeProof({ consumedProofs, secrets }),
    proveEmail: () => Promise.reject(new Error('proved')),
    addIdentity: async () => ({ events: [], audit: [] }),
    ...{ challenges, passkeys, secondFactors },
    warnOfGuesses: async () => undefined,
    users,
    sessions,
    commit,
    refreshTokens,
    issueTokens,
    audit,
    now,
  };
  return { ...own, limits, hasher, lifetime, ids, ...deps };
}

async function logIn(
  input: { email: string; password?: string; [field: string]: unknown },
  deps: Partial<LogInDeps> = {},
  origin = fixture.origin,
) {
  const parts = depsWith(deps);
  const run = createLogIn({
    ...parts,
    authenticate: createAuthenticate(parts),
    completeLogin: createOpenSession(parts),
  });
  const { data, isReplayed } = await run({ password, ...input }, origin);
  expect(isReplayed).toBe(false);
  return data;
}

/** Logs in, and returns true if that has looked at the live sessions. */
async function looks(...[input, deps, origin]: Parameters<typeof logIn>): Promise<boolean> {
  let isLookedAt = false;
  const listLive: LogInDeps['sessions']['listLive'] = (...given) => {
    isLookedAt = true;
    return fixture.sessions.listLive(...given);
  };
  await logIn(input, { sessions: { ...fixture.sessions, listLive }, ...deps }, origin);
  return isLookedAt;
}

const sessionsOf = (user_id: string) => fixture.collections.sessions.find({ user_id }).toArray();
const refused = { code: 'ERR-INVALID-CREDENTIALS', name: 'AppError' };

describe('a login', () => {
  // guarantees: no-refresh-token-stored
  test('a login opens a session with a hash of its token, and announces what was done', async () => {
    const user = await fixture.user({ account_type: 'OFFICE' });
    const origin = { ...fixture.origin, receivedAt: 17 };
    const device_id = '7D0F7A34-52F1-4A4E-9B0E-3A1C5D2E8F90';
    const answer = await logIn(
      { email: user.email, device_id, device_name: 'Pixel 9', platform: 'android' },
      {},
      origin,
    );
    const at = fixture.now();
    const { session_id, refresh_token } = answer;
    const stored = (await fixture.asStored(session_id)) as SessionDocument;
    expect(stored).toEqual({
      _id: session_id,
      token: hashOf(refresh_token),
      user_id: user._id,
      is_revoked: false,
      nonce: expect.anything(),
      kid: fixture.refreshTokens.currentKid,
      ahead: { kid: fixture.refreshTokens.currentKid, block: 0, hashes: expect.stringMatching(/^[\w-]{344}$/) },
      gen: 1,
      parent: 0,
      floor: 0,
      handed_out_at: at,
      claims: { home_group_id: user.home_group_id, account_type: 'OFFICE', ver: 1 },
      auth: { at, amr: ['pwd'], acr: '1' },
      device_id: device_id.toLowerCase(),
      is_device_named: true,
      device_name: 'Pixel 9',
      platform: 'android',
      created_at: at,
      created_request_id: 'request-1',
      last_used_at: at,
      expires_at: new Date(at.getTime() + 7_200_000),
      absolute_expires_at: new Date(at.getTime() + 86_400_000),
    });
    expect(stored.nonce.value()).toHaveLength(32);
    expect(stored.ahead?.hashes.slice(43, 86)).toBe(stored.token);
    expect(JSON.stringify(stored)).not.toContain(refresh_token);
    expect(answer).toMatchObject({ user_id: user._id, device_id: device_id.toLowerCase(), account_type: 'OFFICE' });
    expect(fixture.audited).toEqual([
      [{ event: 'login.succeeded', user_id: user._id, session_id, method: 'password' }, origin],
    ]);
    expect(limitCalls).toEqual([['asked', user.email, origin], 'succeeded']);
    expect(fixture.announced).toEqual([]);
    expect(await fixture.users.findByEmail(user.email)).toMatchObject({ last_login_at: at, touches: 1 });
    expect(fixture.verdicts).toEqual([false, true]);
  });

  test('a login that ends no other session needs no round trip on that', async () => {
    const { email } = await fixture.user();
    const asked: unknown[] = [];
    const revokeAll: LogInDeps['sessions']['revokeAll'] = async (...given) => void asked.push(given);
    await logIn({ email }, { sessions: { ...fixture.sessions, revokeAll } });
    expect(asked).toEqual([]);
  });

  test('a login without a device gets a new device id, of which the limits learn nothing, and has no name', async () => {
    const { email } = await fixture.user();
    const { session_id, device_id } = await logIn({ email });
    expect(device_id).toBe(madeUp);
    const unnamed = { is_device_named: false, device_name: null, platform: null };
    expect(await fixture.asStored(session_id)).toMatchObject({ device_id: madeUp, ...unnamed });
    expect(limitCalls[0]).toEqual(['asked', email, fixture.origin]);
  });

  test('a login stores the device’s name without control characters, and no invisible name', async () => {
    const { email } = await fixture.user();
    const nameOf = async (device_name: string) =>
      (await fixture.asStored((await logIn({ email, device_name })).session_id))?.device_name;
    expect(await nameOf('Pi\u202exel\u2028 9')).toBe('Pixel 9');
    expect(await nameOf('می‌خواهم ❤️')).toBe('می‌خواهم ❤️');
    for (const invisible of ['', ' ', '\u202e\u200b', '\u3164\u200f']) expect(await nameOf(invisible)).toBeNull();
  });

  test('a login’s session has an end that is never past the absolute one', async () => {
    const { email } = await fixture.user();
    const { session_id } = await logIn({ email }, { lifetime: { idleSeconds: 100, absoluteSeconds: 60 } });
    const end = new Date(fixture.now().getTime() + 60_000);
    expect(await fixture.asStored(session_id)).toMatchObject({ expires_at: end, absolute_expires_at: end });
  });

  test('a login whose client has disconnected opens no session', async () => {
    const { email, _id } = await fixture.user();
    const origin = { ...fixture.origin, isAbandoned: () => true };
    await expect(logIn({ email }, {}, origin)).rejects.toThrow(RequestAbandoned);
    expect(await sessionsOf(_id)).toEqual([]);
    expect(fixture.audited).toEqual([]);
  });
});

describe('logins that raise ERR-INVALID-CREDENTIALS', () => {
  test('a wrong password raises ERR-INVALID-CREDENTIALS, and is counted and audited', async () => {
    const user = await fixture.user();
    await expect(logIn({ email: user.email, password: 'wrong' })).rejects.toMatchObject(refused);
    expect(limitCalls.slice(1)).toEqual(['failed']);
    const event = { event: 'login.failed', user_id: user._id, reason: 'wrong_password' };
    expect(fixture.audited).toEqual([[event, fixture.origin]]);
    expect(await sessionsOf(user._id)).toEqual([]);
  });

  test('an unknown email address raises ERR-INVALID-CREDENTIALS after the same work', async () => {
    const verified: unknown[] = [];
    const deps = {
      hasher: hasherWith(({ network, receivedAt }) => ({
        verify: async (...given) => verified.push([...given, network, receivedAt]) > 0,
      })),
    };
    const origin = { ...fixture.origin, receivedAt: 17 };
    await expect(logIn({ email: 'nobody@example.com' }, deps, origin)).rejects.toMatchObject(refused);
    expect(verified).toEqual([[undefined, password, '192.0.2.1', 17]]);
    expect(limitCalls.slice(1)).toEqual(['failed']);
    const event = { event: 'login.failed', user_id: undefined, reason: 'unknown_account' };
    expect(fixture.audited).toEqual([[event, origin]]);
  });

  test('an account that was deleted after its password was verified raises ERR-INVALID-CREDENTIALS', async () => {
    const user = await fixture.user();
    const verify = async () => (await fixture.collections.users.deleteOne({ _id: user._id })).deletedCount === 1;
    await expect(logIn({ email: user.email }, { hasher: hasherWith(() => ({ verify })) })).rejects.toMatchObject(
      refused,
    );
    expect(await sessionsOf(user._id)).toEqual([]);
  });
});

describe('a password that was verified', () => {
  // guarantees: password-change
  test.each<[string, Partial<UserDocument>]>([
    ['another one has taken its place', { password_changed_at: new Date('2026-11-22T10:00:00.000Z') }],
    ['the account has another email address', { email_key: 'other@example.com' }],
    ['another login method was added', { ways_changed_at: new Date('2026-11-22T10:00:00.000Z') }],
  ])('a password that was verified opens no session if %s since', async (_, set) => {
    const user = await fixture.user();
    const verify = async () =>
      (await fixture.collections.users.updateOne({ _id: user._id }, { $set: set })).acknowledged;
    const login = logIn({ email: user.email }, { hasher: hasherWith(() => ({ verify })) });
    await expect(login).rejects.toMatchObject(refused);
    expect(await sessionsOf(user._id)).toEqual([]);
    const event = { event: 'login.refused', user_id: user._id, reason: 'credentials_changed' };
    expect(fixture.audited).toEqual([[event, fixture.origin]]);
  });

  test('a password that was set before the login opens a session', async () => {
    const { email } = await fixture.user({ password_changed_at: new Date('2026-11-22T10:00:00.000Z') });
    await expect(logIn({ email })).resolves.toHaveProperty('session_id');
  });
});

describe('an account that nobody may log in to', () => {
  const deletes_at = new Date('2026-12-06T10:00:00.000Z');
  const disabled_at = new Date('2026-11-22T10:00:00.000Z');

  test.each([
    [{ disabled_at }, 'ERR-ACCOUNT-DISABLED', {}, 'account_disabled'],
    [{ deletes_at }, 'ERR-ACCOUNT-DELETION-SCHEDULED', { deletes_at: deletes_at.toISOString() }, 'deletion_scheduled'],
    [{ disabled_at, deletes_at }, 'ERR-ACCOUNT-DISABLED', {}, 'account_disabled'],
  ])('a login to an account with %j raises %s for the right password only', async (fields, code, details, reason) => {
    const user = await fixture.user(fields);
    await expect(logIn({ email: user.email })).rejects.toMatchObject({ code, details, status: 403 });
    const event = { event: 'login.refused', user_id: user._id, reason };
    expect(fixture.audited.splice(0)).toEqual([[event, fixture.origin]]);
    await expect(logIn({ email: user.email, password: 'wrong' })).rejects.toMatchObject(refused);
    expect(await sessionsOf(user._id)).toEqual([]);
    expect(await fixture.collections.users.findOne({ _id: user._id })).toEqual(user);
  });

  test('a login to an account that is disabled after its password was verified opens no session', async () => {
    const user = await fixture.user();
    const verify = async () =>
      (await fixture.collections.users.updateOne({ _id: user._id }, { $set: { disabled_at } })).acknowledged;
    const login = logIn({ email: user.email }, { hasher: hasherWith(() => ({ verify })) });
    await expect(login).rejects.toMatchObject({ code: 'ERR-ACCOUNT-DISABLED' });
    expect(await sessionsOf(user._id)).toEqual([]);
  });
});

describe('a hash with too low parameters', () => {
  const weak = `weak hash of: ${password}`;
  const hashOfUser = async (email: string) => (await fixture.users.findByEmail(email))?.password_hash;

  // guarantees: argon2id
  test('a hash with too low parameters is made anew, and a good one is not', async () => {
    const [user, other] = [await fixture.user({ password_hash: weak }), await fixture.user()];
    const hashed: unknown[] = [];
    const deps = {
      hasher: hasherWith(({ receivedAt }) => ({
        async hash(text) {
          hashed.push([text, receivedAt]);
          return `hash of: ${text}`;
        },
      })),
    };
    const origin = { ...fixture.origin, receivedAt: 17 };
    await logIn({ email: user.email }, deps, origin);
    await logIn({ email: other.email }, deps, origin);
    expect(hashed).toEqual([[password, 17]]);
    expect(await hashOfUser(user.email)).toBe(`hash of: ${password}`);
  });

  test('a hash with too low parameters waits for the next login under overload', async () => {
    const user = await fixture.user({ password_hash: weak });
    const hash = () => Promise.reject(new AppError('ERR-OVERLOADED'));
    expect(await logIn({ email: user.email }, { hasher: hasherWith(() => ({ hash })) })).toMatchObject({
      user_id: user._id,
    });
    expect(await hashOfUser(user.email)).toBe(weak);
  });

  test.each([
    ['a fault', new Error('no memory')],
    ['an error of the catalogue', new AppError('ERR-INTERNAL')],
    ['what only looks like overload', Object.assign(new Error('x'), { code: 'ERR-OVERLOADED' })],
  ])('a login whose new hash ends with %s fails', async (_, error) => {
    const { email } = await fixture.user({ password_hash: weak });
    const deps = { hasher: hasherWith(() => ({ hash: () => Promise.reject(error) })) };
    await expect(logIn({ email }, deps)).rejects.toBe(error);
  });
});

describe('a login by any method', () => {
  const challengeUse = () => ({ id: randomUUID(), proof: ['proof'], until: new Date('2026-11-21T10:10:00.000Z') });
  const open = (
    seen: PresentUser,
    fields: Partial<ProvedLogin> = {},
    origin = fixture.origin,
    deps: Partial<LogInDeps> = {},
  ) =>
    createOpenSession(depsWith(deps))(
      { seen, device: {}, method: 'email_code', auth: { amr: ['otp'], acr: '1' }, ...fields },
      origin,
    );

  /** Stores an open code of the account, and returns it as the check that has found it right. */
  async function rightCode(user: PresentUser): Promise<RightCode> {
    const challengeId = randomUUID();
    const [at, later] = [fixture.now(), new Date(fixture.now().getTime() + 600_000)];
    await fixture.collections.challenges.insertOne({
      ...{ _id: challengeId, purpose: 'login', user_id: user._id, kid: 'k', tries_left: 5, resends_left: 3 },
      ...{ resend_at: later, created_at: at, expires_at: later, ended_at: null, purge_at: later },
    });
    return { kind: 'email_code', user, challengeId, usedBy: randomUUID() };
  }

  test('a login by any method stores the key of its device, and whether that is trusted from now on', async () => {
    const user = await fixture.user();
    const origin = { ...fixture.origin, proof: { jkt: 'of the request' } };
    const storedBy = async (...given: Parameters<typeof open>) => {
      const { data } = await open(...given);
      return fixture.asStored(data.session_id);
    };
    expect(await storedBy(user, { trust: { token: 'token' }, jkt: 'of the first step' })).toMatchObject({
      cnf: { jkt: 'of the first step' },
      is_trusted: true,
      auth: { amr: ['otp'], acr: '1' },
    });
    const trusted = { device_id: madeUp, token: hashOf('token'), jkt: 'of the first step', trusted_at: fixture.now() };
    expect(await fixture.users.find(user._id)).toMatchObject({ trusted_devices: [trusted] });
    const byDefault = await storedBy(user, {}, origin);
    expect(byDefault).toMatchObject({ cnf: { jkt: 'of the request' } });
    expect(byDefault).not.toHaveProperty('is_trusted');
    expect(await storedBy(user)).not.toHaveProperty('cnf');
  });

  // guarantees: trust-ends-with-session
  test('a login by the trust in its device opens no session once that trust has ended or been replaced', async () => {
    const device_id = randomUUID();
    const plain = newUserDocument(fixture.now());
    const times = { trusted_at: fixture.now(), until: new Date(fixture.now().getTime() + 1) };
    const trust = { device_id, token: 'hash', version: credentialsVersion(plain), ...times };
    const tablet = { ...trust, device_id: randomUUID(), token: 'of the tablet' };
    const seen = await fixture.user({ ...plain, trusted_devices: [trust, tablet] });
    const byTrust = () => open(seen, { device: { device_id: device_id.toUpperCase() }, trust: 'used' });
    for (const trusted_devices of [[], [tablet], [{ ...trust, token: 'other' }]]) {
      await fixture.collections.users.updateOne({ _id: seen._id }, { $set: { trusted_devices } });
      await expect(byTrust()).rejects.toMatchObject(refused);
    }
    expect(await sessionsOf(seen._id)).toEqual([]);
    await fixture.collections.users.updateOne({ _id: seen._id }, { $set: { trusted_devices: [trust] } });
    expect((await byTrust()).data).toMatchObject({ device_id });
  });

  // guarantees: trust-ends-with-session
  test('a login by one factor opens no session while the second factor is on, unless its removal is due', async () => {
    const removal = {
      id: randomUUID(),
      ordered_at: new Date(0),
      due_at: new Date(fixture.now().getTime() + 1),
      by: 'mail',
    };
    const sealed = { factor_id: randomUUID(), kid: 'k', seed: new Binary(Buffer.alloc(1)) };
    const totp = { ...sealed, confirmed_at: fixture.now(), last_step: 1, removal } as NonNullable<UserDocument['totp']>;
    const user = await fixture.user({ totp });
    // As its method has found it, by a mistake.
    const { totp: _, ...seen } = user;
    await expect(open(seen)).rejects.toMatchObject(refused);
    expect((await open(seen, { auth: { amr: ['otp', 'mfa'], acr: '2' } })).data).toMatchObject({ user_id: user._id });
    await fixture.collections.users.updateOne({ _id: user._id }, { $set: { 'totp.removal.due_at': fixture.now() } });
    expect((await open(seen)).data).toMatchObject({ user_id: user._id });
  });

  test('a login to an account whose erasure has come due since the proof was checked is one to no account', async () => {
    const seen = await fixture.user();
    await fixture.collections.users.updateOne({ _id: seen._id }, { $set: { deletes_at: fixture.now() } });
    await expect(open(seen)).rejects.toMatchObject(refused);
  });

  test('a login whose account was changed since its proof fails with the error of its method, and is audited', async () => {
    const seen = await fixture.user();
    await fixture.collections.users.updateOne({ _id: seen._id }, { $set: { ways_changed_at: fixture.now() } });
    const expired = new AppError('ERR-CODE-EXPIRED');
    await expect(open(seen, { ifChanged: () => expired })).rejects.toBe(expired);
    await expect(open(seen)).rejects.toMatchObject(refused);
    const refusal = { event: 'login.refused', user_id: seen._id, reason: 'credentials_changed' };
    expect(fixture.audited.map(([event]) => event)).toEqual([refusal, refusal]);
  });

  test('a login by any method uses up its challenges and its proof, and announces the outcome', async () => {
    const user = await fixture.user();
    const { document: other } = await fixture.session({ user_id: user._id });
    const [first, second] = [challengeUse(), challengeUse()];
    const used: unknown[] = [];
    const confirmed = { event: 'code.confirmed', user_id: user._id, purpose: 'login' } as const;
    const proved = { event: 'account.address_proved', user_id: user._id, invites_revoked: 0 } as const;
    const source = { id: randomUUID(), requestId: 'request-1', traceparent: undefined, at: fixture.now() };
    const verified = { user_id: user._id, verified_at: fixture.now().toISOString() };
    const event = createAccountEvent('service.auth.events.email_verified', verified, source);
    const proveEmail: OpenSessionDeps['proveEmail'] = async ({ user: seen, device, at }, _origin, session) => {
      used.push([seen._id, device, at]);
      await fixture.sessions.revokeAll(
        [other._id],
        { reason: 'password_changed', at, requestId: 'request-1' },
        session,
      );
      return {
        events: [event],
        audit: [proved],
        ended: { userId: user._id, reason: 'password_changed', sessionIds: [other._id] },
        user: seen,
      };
    };
    const proof = await rightCode(user);
    const { data } = await open(user, { challengeUses: [first, second], proof }, fixture.origin, { proveEmail });
    const { session_id } = data;
    // Twice, because the fixture rolls each transaction back and repeats it.
    expect(used).toEqual(Array(2).fill([user._id, 'unnamed', fixture.now()]));
    expect(await fixture.collections.consumedProofs.countDocuments({ session_id })).toBe(2);
    expect(fixture.published).toContainEqual(event);
    expect(fixture.audited.map(([event]) => event)).toEqual([
      { event: 'login.succeeded', user_id: user._id, session_id, method: 'email_code' },
      confirmed,
      proved,
      { event: 'session.revoked', user_id: user._id, session_id: other._id, reason: 'password_changed' },
    ]);
    await expect(open(user, { proof })).rejects.toMatchObject({ code: 'ERR-CODE-INVALID' });
    await expect(open(user, { challengeUses: [second] })).rejects.toMatchObject({ code: 'ERR-CODE-EXPIRED' });
    expect(await sessionsOf(user._id)).toHaveLength(2);
  });

  test.each([true, false])(
    'a login that links an identity hands it over with its session and the account, once its code has proved the address: %s',
    async (isFirst) => {
      const user = await fixture.user(isFirst ? {} : { email_verified_at: fixture.now() });
      const link = { provider: 'office', sub: 'person', email: user.email };
      const linked: Parameters<OpenSessionDeps['addIdentity']>[] = [];
      const addIdentity: OpenSessionDeps['addIdentity'] = async (...given) => {
        linked.push(given);
        return { events: [], audit: [] };
      };
      const ended = { userId: user._id, reason: 'password_changed', sessionIds: [] } as const;
      const after = { ...user, display_name: 'as the proof has left it' };
      const proveEmail: OpenSessionDeps['proveEmail'] = async () => ({ events: [], audit: [], ended, user: after });
      const proof = await rightCode(user);
      const deps = { addIdentity, ...(isFirst && { proveEmail }) };
      const { session_id } = (await open(user, { link, proof }, fixture.origin, deps)).data;
      const [account, linking] = linked.at(-1) ?? [];
      expect(account).toMatchObject(isFirst ? after : user);
      const identity = { ...link, id: expect.any(String), created_at: fixture.now() };
      expect(linking).toEqual({ identity, sessionId: session_id });
      expect(fixture.audited.map(([event]) => event)).toContainEqual({
        ...{ event: 'code.confirmed', user_id: user._id, purpose: 'identity_link' },
      });
    },
  );

  test('a login that is repeated under its key gets its session and holds nothing, and waits for the session’s key', async () => {
    const user = await fixture.user();
    const marks = (key: string) => [{ _id: key, fingerprint: 'body' }];
    const held: (() => unknown)[] = [];
    const holdOf: LogInDeps['sessions']['holdOf'] = (users) => {
      held.push(() => (typeof users === 'function' ? users() : users));
      return fixture.sessions.holdOf(users);
    };
    const openBy = (key: string, device_id?: string) => {
      const deps = { sessions: { ...fixture.sessions, holdOf } };
      return open(user, { marks: marks(key), device: { ...(device_id && { device_id }) } }, fixture.origin, deps);
    };
    const [first, other] = [await openBy('one'), await openBy('other', randomUUID())];
    const repeated = await openBy('one');
    expect([first, other, repeated].map(({ isReplayed }) => isReplayed)).toEqual([false, false, true]);
    expect(repeated.data.session_id).toBe(first.data.session_id);
    expect(held.map((users) => users())).toEqual([[], [], []]);
    await fixture.collections.sessions.updateOne({ _id: first.data.session_id }, { $set: { kid: 'another' } });
    await expect(openBy('one')).rejects.toMatchObject({ name: 'MissingKeyError', kind: 'refresh' });
  });

  test('a login that ends all sessions holds them, although it has not looked for any', async () => {
    const user = await fixture.user({ known_devices: ['unnamed'], spent_touches: 0 });
    const held: unknown[] = [];
    const holdOf: LogInDeps['sessions']['holdOf'] = (users) => {
      held.push(() => (typeof users === 'function' ? users() : users));
      return fixture.sessions.holdOf(users);
    };
    const sessions = { ...fixture.sessions, holdOf };
    const ended = { userId: user._id, reason: 'password_changed', sessionIds: [] } as const;
    const proveEmail: OpenSessionDeps['proveEmail'] = async () => ({ events: [], audit: [], ended, user });
    await open(user, { proof: await rightCode(user) }, fixture.origin, { sessions, proveEmail });
    expect(held.map((users) => (users as () => unknown)())).toEqual([[user._id]]);
  });
});

describe('the sessions that a login ends', () => {
  const ended = async (user_id: string) => {
    const found = await fixture.collections.sessions.find({ user_id, is_revoked: true }).toArray();
    return new Map(
      found.map(({ _id, revoked_reason, revoked_at, revoked_request_id }) => [
        _id,
        { revoked_reason, revoked_at, revoked_request_id },
      ]),
    );
  };
  const because = (revoked_reason: string) => ({
    revoked_reason,
    revoked_at: fixture.now(),
    revoked_request_id: 'request-1',
  });
  const othersOf = (user_id: string, count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, i) =>
        fixture.session({ user_id, last_used_at: new Date(fixture.now().getTime() - 60_000 * (count - i)) }),
      ),
    );
  const ids = (made: Awaited<ReturnType<typeof othersOf>>) => made.map(({ document }) => document._id);

  test('a login ends the earlier session on its device, and none of the 49 on others', async () => {
    const { email, _id: user_id } = await fixture.user();
    const device_id = randomUUID();
    await othersOf(user_id, 49);
    const former = await fixture.session({ user_id, device_id });
    const { session_id } = await logIn({ email, device_id });
    expect(await ended(user_id)).toEqual(new Map([[former.document._id, because('replaced')]]));
    expect(fixture.audited).toEqual([
      [{ event: 'login.succeeded', user_id, session_id, method: 'password' }, fixture.origin],
      [{ event: 'session.revoked', user_id, session_id: former.document._id, reason: 'replaced' }, fixture.origin],
    ]);
    const announcement = { sessionIds: [former.document._id], reason: 'SESSION_REPLACED', requestId: 'request-1' };
    expect(fixture.announced).toEqual([{ ...announcement, at: fixture.now() }]);
  });

  test.each([
    ['found by a look', {}],
    ['met in the index', { spent_touches: 0 }],
  ])('a session that replaces one of a pod whose clock was ahead still gets the greater id: %s', async (_, fields) => {
    const device_id = randomUUID();
    const { email, _id: user_id } = await fixture.user({ known_devices: [device_id], ...fields });
    const { document } = await fixture.session({ user_id, device_id, _id: '01fff000-0000-7000-bfff-ffffffffffff' });
    const { session_id } = await logIn({ email, device_id }, { ids: createIds(Date.now) });
    expect(session_id).toMatch(/^01fff000-0001-7/);
    expect(session_id > document._id).toBe(true);
  });

  // guarantees: session-limits
  test('a login beside 50 sessions ends the one unused for longest, and notifies all the others of the new device', async () => {
    const { email, _id: user_id } = await fixture.user({ known_devices: ['tablet'] });
    const [first, ...others] = ids(await othersOf(user_id, 50));
    await logIn({ email, device_id: randomUUID() });
    expect([...(await ended(user_id)).keys()]).toEqual([first]);
    expect(fixture.messages.map(([sessionIds]) => sessionIds)).toEqual([others]);
  });

  test('a login beside more than 50 sessions ends those unused for longest, and the one on its device', async () => {
    const { email, _id: user_id } = await fixture.user();
    const others = ids(await othersOf(user_id, 51));
    const device_id = randomUUID();
    const former = await fixture.session({ user_id, device_id });
    await logIn({ email, device_id });
    const [first = '', second = ''] = others;
    expect(await ended(user_id)).toEqual(
      new Map([
        [former.document._id, because('replaced')],
        [first, because('session_limit')],
        [second, because('session_limit')],
      ]),
    );
    const reasons = fixture.audited.slice(1).map(([event]) => event);
    expect(reasons).toEqual([
      { event: 'session.revoked', user_id, session_id: former.document._id, reason: 'replaced' },
      { event: 'session.revoked', user_id, session_id: first, reason: 'session_limit' },
      { event: 'session.revoked', user_id, session_id: second, reason: 'session_limit' },
    ]);
    expect(fixture.announced).toMatchObject([
      { sessionIds: [former.document._id], reason: 'SESSION_REPLACED' },
      { sessionIds: [first, second], reason: 'SESSION_REVOKED' },
    ]);
  });
});

test.each([true, false])('a login holds the account’s sessions only if it ends one: %s', async (endsOne) => {
  const user = await fixture.user();
  const device_id = randomUUID();
  if (endsOne) await logIn({ email: user.email, device_id });
  const held: Parameters<LogInDeps['sessions']['holdOf']>[0][] = [];
  const holdOf: LogInDeps['sessions']['holdOf'] = (users) => {
    held.push(users);
    return fixture.sessions.holdOf(users);
  };
  await logIn({ email: user.email, device_id }, { sessions: { ...fixture.sessions, holdOf } });
  const found = held.map((users) => (typeof users === 'function' ? users() : users));
  expect(found.at(-1)).toEqual(endsOne ? [user._id] : []);
});

test('a session gets an id after that of its device’s earlier one, by which apps order them', async () => {
  const { email, _id: user_id } = await fixture.user();
  const device_id = randomUUID();
  const { document } = await fixture.session({ user_id, device_id });
  await fixture.session({ user_id });
  const after = new Set<string | undefined>();
  const entityId = (id?: string) => {
    after.add(id);
    return randomUUID();
  };
  await logIn({ email, device_id }, { ids: { ...createIds(Date.now), entityId } });
  await logIn({ email, device_id: randomUUID() }, { ids: { ...createIds(Date.now), entityId } });
  expect(after).toEqual(new Set([document._id, undefined]));
});

describe('the search of a login on a known device for live sessions', () => {
  const device_id = '7d0f7a34-52f1-4a4e-9b0e-3a1c5d2e8f90';
  const dayMs = 86_400_000;
  const known = { known_devices: [device_id], touches: 49, spent_touches: 0 };
  const ago = (ms: number) => new Date(fixture.now().getTime() - ms);
  const liveOf = (user_id: string) => fixture.collections.sessions.countDocuments({ user_id, is_revoked: false });

  test.each<[string, boolean, Partial<UserDocument>]>([
    ['to an account with room for one more session', false, known],
    ['to an account that may have no room', true, { ...known, touches: 50 }],
    ['to an account of whose 50 touches one left no session', false, { ...known, touches: 50, spent_touches: 1 }],
    ['to an account that was never touched', false, { known_devices: [device_id], spent_touches: 0 }],
    ['to an account whose sessions nobody has counted', true, { known_devices: [device_id], touches: 1 }],
    ['on an unknown device', true, { ...known, known_devices: ['other'] }],
    ['to an account without known devices', true, { spent_touches: 0 }],
  ])('a login %s looks at the live sessions: %p', async (_, expected, fields) => {
    const { email, _id: user_id } = await fixture.user(fields);
    expect(await looks({ email, device_id })).toBe(expected);
    expect(await liveOf(user_id)).toBe(1);
  });

  test.each<[string, Partial<UserDocument>, boolean]>([
    ['a day ago', { last_login_at: new Date('2026-11-20T10:00:00.000Z') }, false],
    ['later', { last_login_at: new Date('2026-11-20T10:00:00.001Z') }, true],
    ['never', {}, false],
  ])(
    'a login with a key looks at the live sessions only within a day of the latest login: %s',
    async (_, fields, expected) => {
      expect(ago(dayMs)).toEqual(new Date('2026-11-20T10:00:00.000Z'));
      const { idempotency } = storesOf(fixture.collections);
      const secret = createSecretKey(randomBytes(32));
      const openIdempotent = createOpenIdempotent({ idempotency, secrets: () => [secret], now: fixture.now });
      const { email } = await fixture.user({ ...known, ...fields });
      const origin = { ...fixture.origin, idempotencyKey: randomUUID() };
      expect(await looks({ email, device_id }, { openIdempotent }, origin)).toBe(expected);
    },
  );

  test('a login that conflicts with its device’s session in the index looks at the live sessions, and ends that one', async () => {
    const { email, _id: user_id } = await fixture.user(known);
    const { document } = await fixture.session({ user_id, device_id });
    const begun: unknown[] = [];
    const commit: LogInDeps['commit'] = (change, origin) => {
      begun.push(change.begunAt);
      return fixture.commit(change, origin);
    };
    expect(await looks({ email, device_id }, { commit })).toBe(true);
    expect(await fixture.asStored(document._id)).toMatchObject({ is_revoked: true, revoked_reason: 'replaced' });
    expect(await liveOf(user_id)).toBe(1);
    // Both tries have one deadline together.
    expect(begun).toEqual([begun[0], begun[0]]);
    expect(begun[0]).toEqual(expect.any(Number));
  });

  test('a login that conflicts with anything else in the index does not look at the live sessions', async () => {
    const { email, _id: user_id } = await fixture.user(known);
    const { document } = await fixture.session();
    const listLive = () => Promise.reject(new Error('looked'));
    const deps = {
      sessions: { ...fixture.sessions, listLive },
      ids: { ...createIds(Date.now), entityId: () => document._id },
    };
    await expect(logIn({ email, device_id }, deps)).rejects.toMatchObject({ code: 11_000 });
    expect(await sessionsOf(user_id)).toEqual([]);
  });

  test.each<[string, number, number | undefined]>([
    ['notes that they are 48, so that the next need not look', 47, 13],
    ['notes nothing of 49, as every second login would write it again', 48, undefined],
  ])('a login looks at the live sessions if they may be 50, and %s', async (_, others, noted) => {
    const { email, _id: user_id } = await fixture.user({ known_devices: [device_id, madeUp], touches: 60 });
    const { document } = await fixture.session({ user_id, device_id });
    for (let i = 0; i < others; i += 1) await fixture.session({ user_id });
    expect(await looks({ email, device_id })).toBe(true);
    expect(await fixture.asStored(document._id)).toMatchObject({ revoked_reason: 'replaced' });
    const { touches, spent_touches } = (await fixture.users.find(user_id)) ?? {};
    expect([touches, spent_touches]).toEqual([61, noted]);
    expect(await looks({ email, device_id: madeUp })).toBe(noted === undefined);
    expect(await liveOf(user_id)).toBe(others + 2);
  });

  test('a login that looks at the live sessions for another reason notes nothing', async () => {
    const { email, _id: user_id } = await fixture.user({ ...known, known_devices: [] });
    expect(await looks({ email, device_id })).toBe(true);
    expect(await fixture.users.find(user_id)).toMatchObject({ touches: 50, spent_touches: 0 });
  });

  test('a login looks at the live sessions in time, although older versions have opened uncounted ones', async () => {
    const { email, _id: user_id } = await fixture.user({ known_devices: ['unnamed'], spent_touches: 0 });
    const transaction = createTransactionRunner(fixture.mongo);
    const isCommitted = async () => false;
    for (let i = 0; i < 49; i += 1) {
      const session = { ...newSessionDocument(), user_id, last_used_at: ago(60_000 - i) };
      await transaction(
        async (run) => {
          await fixture.users.touchLogin(user_id, fixture.now(), run);
          await fixture.sessions.insert(session, run);
        },
        { isCommitted },
      );
    }
    const ids = createIds(Date.now);
    expect([await looks({ email }, { ids }), await liveOf(user_id)]).toEqual([false, 50]);
    expect([await looks({ email }, { ids }), await liveOf(user_id)]).toEqual([true, 50]);
    expect(await fixture.collections.sessions.countDocuments({ user_id, revoked_reason: 'session_limit' })).toBe(1);
  });
});

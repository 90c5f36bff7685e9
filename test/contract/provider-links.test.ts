import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { logIn, newDevice, newSession, password, registerAccount } from '../support/api/accounts.ts';
import { type ApiDriver, bearer, withHeaders } from '../support/api/api-driver.ts';
import { confirmReset, expire, requestReset, wrongCodeOf } from '../support/api/codes.ts';
import { newDeviceKey } from '../support/api/device-key.ts';
import { addPasskey, withoutPasskeys } from '../support/api/passkeys.ts';
import {
  demandLink,
  linkByProof,
  linkIdentity,
  logInByProvider,
  newHome,
  newPerson,
  type Provider,
  proveByCode,
  provePerson,
  requestProviderLogin,
  signIdToken,
} from '../support/api/providers.ts';
import { beginLogin, codeAt, completeLogin, guardedAccount } from '../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { recordLog } from '../support/recorded-log.ts';
import { createStoppableClock } from '../support/stoppable-clock.ts';
import { uniqueName } from '../support/test-environment.ts';

let api: TestApi;
/** An api without passkeys. */
let off: TestApi;
/** Apis that allow an account one link a day, and ten. */
let strict: TestApi;
let limited: TestApi;
let shiftMs = 0;
const log = recordLog('api');
const clock = createStoppableClock();
const now = () => clock.now() + shiftMs;

beforeAll(async () => {
  api = await startTestApi({ TRUST_PROXY_HOPS: '1' }, { now }, log.logger);
  off = await api.beside({ KEY_PREFIX: uniqueName(), ...withoutPasskeys });
  strict = await api.beside({ KEY_PREFIX: uniqueName(), IDENTITY_ADD_LIMIT_PER_USER: '1' }, { now });
  limited = await api.beside({ KEY_PREFIX: uniqueName(), IDENTITY_ADD_LIMIT_PER_USER: '10' });
});
afterAll(async () => {
  await api.close();
});

const path = '/api/v1/auth/federated/link';
const statusAndCode = ({ status, json }: Answer) => [status, json.error_code];
const stored = (user_id: string) => api.collections.users.findOne({ _id: user_id });
const sessionsOf = (user_id: string) => api.collections.sessions.countDocuments({ user_id, is_revoked: false });
const purposesOf = async (user_id: string) =>
  (await api.collections.outbox.find({ 'event.subject': user_id }).sort({ _id: 1 }).toArray()).map(({ event }) =>
    'purpose' in event.data ? event.data.purpose : event.type.split('.').at(-1),
  );

/** Makes time pass for the api during the work. */
async function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
  try {
    shiftMs += ms;
    return await work();
  } finally {
    shiftMs -= ms;
  }
}

/** Creates an account with a verified email address, and a person at a provider who has the email address. */
async function accountAndPerson() {
  const session = await newSession(api);
  await api.collections.users.updateOne({ _id: session.user_id }, { $set: { email_verified_at: new Date(0) } });
  return { session, user_id: session.user_id, person: newPerson({ email: session.email }) };
}

describe('a link challenge', () => {
  // guarantees: address-joins-nothing
  test('a link challenge without the right proof links nothing, and a wrong password counts like one of a login', async () => {
    const { session, user_id, person } = await accountAndPerson();
    const other = await newSession(api);
    const theirs = await addPasskey(api, other);
    const { authenticator } = await addPasskey(api, session);
    const { link_challenge_id, passkey_options } = await demandLink(api, person);
    const { challenge_id } = await proveByCode(api, link_challenge_id);
    const wrongs = [
      [{ password: 'wrong password' }, 401, 'ERR-INVALID-CREDENTIALS'],
      [{ credential: theirs.authenticator.get(passkey_options) }, 403, 'ERR-PASSKEY-INVALID'],
      [{ credential: authenticator.get(passkey_options, { uv: false }) }, 403, 'ERR-PASSKEY-INVALID'],
      [{ credential: authenticator.get(passkey_options, { userHandle: null }) }, 403, 'ERR-PASSKEY-INVALID'],
      [{ challenge_id, code: await wrongCodeOf(api, challenge_id) }, 403, 'ERR-CODE-INVALID'],
    ] as const;
    log.takeEvents();
    for (const [proof, ...expected] of wrongs) {
      expect(statusAndCode(await linkByProof(api, link_challenge_id, proof))).toEqual(expected);
    }
    const reasons = log.takeEvents().map(({ event, reason }) => (event === 'login.failed' ? reason : event));
    const passkeys = Array(3).fill(['passkey_proof.refused', 'wrong_passkey']).flat();
    expect(reasons).toEqual(['wrong_password', ...passkeys, 'code.failed']);
    const others = ['password', 'credential'];
    for (const [proof, fields] of [
      [{ code: '12345678' }, [...others, 'challenge_id']],
      [{ challenge_id }, [...others, 'code']],
      [{}, [...others, 'challenge_id', 'code']],
    ] as const) {
      const { status, json } = await linkByProof(api, link_challenge_id, proof);
      const missing = fields.map((field) => ({ loc: ['body', field], type: 'missing' }));
      expect([status, json.details]).toMatchObject([422, missing]);
    }
    expect(statusAndCode(await linkByProof(api, 'none', { password }))).toEqual([410, 'ERR-CODE-EXPIRED']);
    expect((await stored(user_id))?.identities ?? []).toEqual([]);
    expect(await sessionsOf(user_id)).toBe(1);
    await clock.stopped(async () => {
      for (let tries = 0; tries < 4; tries += 1)
        await linkByProof(api, link_challenge_id, { password: 'wrong password' });
      expect((await linkByProof(api, link_challenge_id, { password })).status).toBe(429);
      expect((await api.logIn({ email: session.email, password })).status).toBe(429);
    });
  });

  test('a link challenge is over after exactly ten minutes, also with the right proof', async () => {
    const { person } = await accountAndPerson();
    await clock.stopped(async () => {
      const { link_challenge_id } = await demandLink(api, person);
      await later(600_000, async () => {
        for (const send of [
          () => linkByProof(api, link_challenge_id, { password }),
          () => api.requestLinkCode({ link_challenge_id }),
        ])
          expect(statusAndCode(await send())).toEqual([410, 'ERR-CODE-EXPIRED']);
      });
    });
  });

  test.each([
    ['a new passkey', (caller: { email: string; access_token: string }) => addPasskey(api, caller)],
    ['a new identity', (caller: { email: string; access_token: string }) => linkIdentity(api, caller, newPerson())],
  ])('a link challenge is over after %s', async (_, change) => {
    const { session, person } = await accountAndPerson();
    const { authenticator } = await addPasskey(api, session);
    const { link_challenge_id, passkey_options } = await demandLink(api, person);
    const proof = await proveByCode(api, link_challenge_id);
    await change(session);
    for (const each of [proof, { password }, { credential: authenticator.get(passkey_options) }])
      expect(statusAndCode(await linkByProof(api, link_challenge_id, each))).toEqual([410, 'ERR-CODE-EXPIRED']);
  });

  test('a link challenge is over when the account is gone', async () => {
    const { session, person, user_id } = await accountAndPerson();
    const { authenticator } = await addPasskey(api, session);
    const { link_challenge_id, passkey_options } = await demandLink(api, person);
    const proofs = [await proveByCode(api, link_challenge_id), { credential: authenticator.get(passkey_options) }];
    await api.collections.users.deleteOne({ _id: user_id });
    for (const proof of proofs)
      expect(statusAndCode(await linkByProof(api, link_challenge_id, proof))).toEqual([410, 'ERR-CODE-EXPIRED']);
  });

  test('a link challenge whose token is used counts for nothing more', async () => {
    const { person, user_id } = await accountAndPerson();
    const proof = await provePerson(api, person);
    const send = () => api.logInByProvider({ provider: 'office', ...proof });
    const challenges = [(await send()).json.details, (await send()).json.details];
    const [one, two] = challenges.map(({ link_challenge_id }) => String(link_challenge_id));
    expect((await linkByProof(api, one ?? '', { password })).status).toBe(200);
    expect(statusAndCode(await linkByProof(api, two ?? '', { password, device_id: randomUUID() }))).toEqual([
      410,
      'ERR-CODE-EXPIRED',
    ]);
    expect(statusAndCode(await send())).toEqual([410, 'ERR-CODE-EXPIRED']);
    expect(await sessionsOf(user_id)).toBe(2);
  });

  test('a link challenge is over once its token has logged in', async () => {
    const { person, session } = await accountAndPerson();
    const proof = await provePerson(api, person);
    const first = await api.logInByProvider({ provider: 'office', ...proof });
    await linkIdentity(api, session, person);
    expect((await api.logInByProvider({ provider: 'office', ...proof })).status).toBe(200);
    await later(300_000, async () => {
      const late = await linkByProof(api, first.json.details.link_challenge_id, { password });
      expect(statusAndCode(late)).toEqual([410, 'ERR-CODE-EXPIRED']);
    });
  });

  test.each([
    [{ disabled_at: new Date() }, 'ERR-ACCOUNT-DISABLED'],
    [{ deletes_at: new Date(Date.now() + 86_400_000) }, 'ERR-ACCOUNT-DELETION-SCHEDULED'],
  ] as const)('a link to an account with %j is refused after the proof only', async (fields, code) => {
    const { person, user_id } = await accountAndPerson();
    const { link_challenge_id } = await demandLink(api, person);
    await api.collections.users.updateOne({ _id: user_id }, { $set: fields });
    const wrong = await linkByProof(api, link_challenge_id, { password: 'wrong password' });
    expect(statusAndCode(wrong)).toEqual([401, 'ERR-INVALID-CREDENTIALS']);
    expect(statusAndCode(await linkByProof(api, link_challenge_id, { password }))).toEqual([403, code]);
    expect((await stored(user_id))?.identities ?? []).toEqual([]);
  });

  test('a link of an identity that somebody else has got meanwhile is refused', async () => {
    const { person, user_id } = await accountAndPerson();
    const { link_challenge_id } = await demandLink(api, person);
    await linkIdentity(api, await newSession(api), person);
    const answer = await linkByProof(api, link_challenge_id, { password });
    expect(statusAndCode(answer)).toEqual([409, 'ERR-IDENTITY-IN-USE']);
    expect(await sessionsOf(user_id)).toBe(1);
  });
});

describe('an identity whose email address has an account', () => {
  test('an identity whose email address has an account gets a challenge that says the same of every account', async () => {
    const { session, person } = await accountAndPerson();
    await addPasskey(api, session);
    const { email } = await newSession(api);
    for (const each of [person, newPerson({ email: email.toUpperCase() })]) {
      const answer = await logInByProvider(api, each, each === person ? newHome : {});
      expect([...statusAndCode(answer), answer.headers['cache-control']]).toEqual([
        409,
        'ERR-ACCOUNT-LINK-REQUIRED',
        'no-store',
      ]);
      const { link_challenge_id, methods, expires_at, passkey_options, ...rest } = answer.json.details;
      expect(methods).toEqual(['password', 'passkey', 'email_code']);
      expect(Object.keys(rest)).toEqual(['action']);
      expect(Math.abs(Date.parse(expires_at) - now() - 600_000)).toBeLessThan(60_000);
      expect(passkey_options).not.toHaveProperty('allowCredentials');
      expect(link_challenge_id).not.toContain(email);
    }
  });

  test('an identity is linked at an api without passkeys too', async () => {
    const { email } = await newSession(off);
    const details = await demandLink(off, newPerson({ email }));
    expect([details.methods, details.passkey_options]).toEqual([['password', 'email_code'], undefined]);
    const { authenticator } = await addPasskey(api, await newSession(api));
    const credential = authenticator.get({ challenge: 'none', rpId: 'example.com' });
    const answer = await linkByProof(off, details.link_challenge_id, { credential });
    expect(statusAndCode(answer)).toEqual([403, 'ERR-PASSKEY-INVALID']);
    expect((await linkByProof(off, details.link_challenge_id, { password })).status).toBe(200);
  });
});

describe('a link in the transaction that logs in', () => {
  test('a link by password logs in, and links the identity in the same transaction', async () => {
    const links = () => api.metric('auth_provider_logins_total', { provider: 'office', outcome: 'linked' });
    const before = await links();
    const { session, user_id, person } = await accountAndPerson();
    const { link_challenge_id } = await demandLink(api, person);
    const device = { device_id: randomUUID(), device_name: 'Pixel 9', platform: 'android' };
    const answer = await linkByProof(api, link_challenge_id, { password, ...device });
    expect([answer.status, answer.json.data.user_id, answer.json.data.device_id]).toEqual([
      200,
      user_id,
      device.device_id,
    ]);
    expect(await links()).toBe(before + 1);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(decodeJwt(answer.json.data.access_token)).toMatchObject({ amr: ['pwd'], acr: '1' });
    const identity = { id: expect.any(String), provider: 'office', sub: person.sub, email: person.email };
    expect((await stored(user_id))?.identities).toEqual([{ ...identity, created_at: expect.any(Date) }]);
    expect(await purposesOf(user_id)).toEqual(expect.arrayContaining(['identity_linked', 'new_device']));
    expect((await logInByProvider(api, person)).json.data.user_id).toBe(user_id);
    expect(await sessionsOf(user_id)).toBe(3);
    expect((await api.listIdentities(bearer(session))).json.data.identities).toHaveLength(1);
  });

  test('a link by passkey has two factors, also if the second factor is on', async () => {
    const session = await newSession(api);
    const { authenticator } = await addPasskey(api, session);
    const totp = (await stored((await guardedAccount(api, now())).user_id))?.totp;
    if (totp) await api.collections.users.updateOne({ _id: session.user_id }, { $set: { totp } });
    const person = newPerson({ email: session.email });
    const { link_challenge_id, passkey_options } = await demandLink(api, person);
    const credential = authenticator.get(passkey_options);
    const { status, json } = await linkByProof(api, link_challenge_id, { credential });
    expect([status, json.data?.user_id]).toEqual([200, session.user_id]);
    expect(decodeJwt(json.data.access_token)).toMatchObject({ acr: '2' });
    expect((await stored(session.user_id))?.identities).toHaveLength(1);
  });

  test('a link by code links the identity, and the mail of the code names the provider', async () => {
    const { user_id, person } = await accountAndPerson();
    const { link_challenge_id } = await demandLink(api, person);
    const asked = await api.requestLinkCode({ link_challenge_id });
    expect([asked.status, asked.json.data.resend_at]).toEqual([202, null]);
    const row = await api.collections.outbox.findOne({ 'event.data.challenge_id': asked.json.data.challenge_id });
    expect(row?.event.data).toMatchObject({ purpose: 'identity_link', provider: 'office', user_id });
    const { status, json } = await linkByProof(api, link_challenge_id, await proveByCode(api, link_challenge_id));
    expect([status, json.data?.user_id]).toEqual([200, user_id]);
    expect((await stored(user_id))?.identities).toHaveLength(1);
    expect(await sessionsOf(user_id)).toBe(2);
  });

  test('a link needs the second factor if it is on, and happens with that', async () => {
    const { email, user_id, secret } = await guardedAccount(api, now());
    const person = newPerson({ email });
    const { link_challenge_id } = await demandLink(api, person);
    const pendingLogins = [
      await linkByProof(api, link_challenge_id, { password }),
      await linkByProof(api, link_challenge_id, { password }),
    ];
    expect(pendingLogins.map(statusAndCode)).toEqual(Array(2).fill([403, 'ERR-SECOND-FACTOR-REQUIRED']));
    expect((await stored(user_id))?.identities ?? []).toEqual([]);
    const [one = '', two = ''] = pendingLogins.map(({ json }) => String(json.details.challenge_id));
    await later(30_000, async () => {
      const done = await completeLogin(api, one, { code: codeAt(secret, now()) });
      expect(done.status).toBe(200);
      expect(decodeJwt(done.json.data.access_token)).toMatchObject({ amr: ['pwd', 'otp', 'mfa'], acr: '2' });
    });
    expect((await stored(user_id))?.identities).toMatchObject([{ sub: person.sub }]);
    await later(60_000, async () => {
      expect((await completeLogin(api, two, { code: codeAt(secret, now()) })).status).toBe(410);
    });
    expect((await linkByProof(api, link_challenge_id, { password })).status).toBe(410);
  });

  test('only a completed second factor counts for the links of a day', async () => {
    const { email, secret } = await guardedAccount(strict, now());
    const pendingLogin = async () => {
      const { link_challenge_id } = await demandLink(strict, newPerson({ email }));
      return linkByProof(strict, link_challenge_id, { password });
    };
    const pendingLogins = [await pendingLogin(), await pendingLogin(), await pendingLogin()];
    expect(pendingLogins.map(statusAndCode)).toEqual(Array(3).fill([403, 'ERR-SECOND-FACTOR-REQUIRED']));
    const complete = (answer: Answer) =>
      completeLogin(strict, answer.json.details.challenge_id, { code: codeAt(secret, now()) });
    await later(30_000, async () => expect((await complete(pendingLogins[2] as Answer)).status).toBe(200));
    await later(60_000, async () =>
      expect(statusAndCode(await complete(await pendingLogin()))).toEqual([429, 'ERR-RATE-LIMITED']),
    );
  });

  test.each<[string, (link_challenge_id: string) => Promise<object>]>([
    ['a password', async () => ({ password })],
    ['a code', (link_challenge_id) => proveByCode(api, link_challenge_id)],
  ])('a trusted device links no identity by %s without the second factor', async (_, proofOf) => {
    const { user_id, email, secret } = await guardedAccount(api, now());
    await api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
    const device_id = randomUUID();
    const challenge_id = await beginLogin(api, email, { device_id });
    await later(30_000, async () => {
      const fields = { code: codeAt(secret, now()), trust_device: true };
      const { trusted_device_token } = (await completeLogin(api, challenge_id, fields)).json.data;
      const trusted = { device_id, trusted_device_token };
      await logIn(api, email, trusted);
      const { link_challenge_id } = await demandLink(api, newPerson({ email }));
      const link = await linkByProof(api, link_challenge_id, { ...(await proofOf(link_challenge_id)), ...trusted });
      expect(statusAndCode(link)).toEqual([403, 'ERR-SECOND-FACTOR-REQUIRED']);
    });
  });

  test('the second factor of a link may make the device trusted', async () => {
    const { email, secret } = await guardedAccount(api, now());
    const person = newPerson({ email });
    const { link_challenge_id } = await demandLink(api, person);
    const device_id = randomUUID();
    const pendingLogin = await linkByProof(api, link_challenge_id, { password, device_id });
    await later(30_000, async () => {
      const fields = { code: codeAt(secret, now()), trust_device: true };
      const done = await completeLogin(api, pendingLogin.json.details.challenge_id, fields);
      const { trusted_device_token } = done.json.data;
      const trusted = { device_id, trusted_device_token };
      expect((await logInByProvider(api, person, trusted)).status).toBe(200);
      expect((await logInByProvider(api, person, { ...trusted, device_id: randomUUID() })).status).toBe(403);
    });
  });

  test('a link binds the session to the key of the device', async () => {
    const { person } = await accountAndPerson();
    const { link_challenge_id } = await demandLink(api, person);
    const key = newDeviceKey();
    const proof = { DPoP: key.prove({ path, at: now() }) };
    expect((await linkByProof(api, link_challenge_id, { password }, proof)).json.data.bound).toBe(true);
  });
});

describe('a lost answer', () => {
  test.each(['password', 'passkey', 'code'])(
    'a lost answer to a link comes again for 60 s for the same %s and device',
    async (signInMethod) => {
      const { session, user_id, person } = await accountAndPerson();
      const { authenticator } = await addPasskey(api, session);
      const { link_challenge_id, passkey_options } = await demandLink(api, person);
      const code = await proveByCode(api, link_challenge_id);
      const passkey = { credential: authenticator.get(passkey_options) };
      const proofs: Record<string, object> = { password: { password }, passkey, code };
      const others = [
        ...Object.values(proofs).filter((proof) => proof !== proofs[signInMethod]),
        // Signatures of one authenticator differ.
        { credential: authenticator.get(passkey_options) },
        { ...code, code: await wrongCodeOf(api, code.challenge_id) },
      ];
      const body = { ...proofs[signInMethod], device_id: randomUUID() };
      const first = await linkByProof(api, link_challenge_id, body);
      const again = await linkByProof(api, link_challenge_id, body);
      expect([first.status, again.status]).toEqual([200, 200]);
      expect(again.json.data.session_id).toBe(first.json.data.session_id);
      const other = await linkByProof(api, link_challenge_id, { ...body, device_id: randomUUID() });
      expect(statusAndCode(other)).toEqual([410, 'ERR-CODE-EXPIRED']);
      for (const proof of others) {
        const byOther = await linkByProof(api, link_challenge_id, { ...proof, device_id: body.device_id });
        expect(statusAndCode(byOther)).toEqual([410, 'ERR-CODE-EXPIRED']);
      }
      await later(61_000, async () => expect((await linkByProof(api, link_challenge_id, body)).status).toBe(410));
      expect(await sessionsOf(user_id)).toBe(2);
      expect((await stored(user_id))?.identities).toHaveLength(1);
    },
  );
});

describe('a code for a link', () => {
  // guarantees: address-joins-nothing
  test('a code counts for the link that it was asked for, and for nothing else', async () => {
    const { person, session } = await accountAndPerson();
    const [mine, other] = [await demandLink(api, person), await demandLink(api, person, 'partner')];
    const proof = await proveByCode(api, mine.link_challenge_id);
    const wrong = [403, 'ERR-CODE-INVALID'];
    expect(statusAndCode(await linkByProof(api, other.link_challenge_id, proof))).toEqual(wrong);
    expect(statusAndCode(await api.logInByCode(proof))).toEqual(wrong);
    const reset = { ...proof, new_password: 'three wrong staples' };
    expect(statusAndCode(await api.confirmPasswordReset(reset))).toEqual(wrong);
    const foreign = await requestReset(api, session.email);
    const ofReset = { challenge_id: foreign, code: proof.code };
    expect(statusAndCode(await linkByProof(api, mine.link_challenge_id, ofReset))).toEqual(wrong);
    expect((await linkByProof(api, mine.link_challenge_id, proof)).status).toBe(200);
  });

  test.each([
    { proven: 'never', codes: 5 },
    { proven: 'once', codes: 10 },
  ])(
    'unknown devices use up no code for a link of a known device and network, whose email address was proved $proven',
    async ({ proven, codes }) => {
      const from = (network: string, device: object) => withHeaders(api, { 'X-Forwarded-For': network, ...device });
      const home = from('198.51.100.7', newDevice());
      const { email, user_id } = await registerAccount(home);
      if (proven === 'once') {
        await api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
      }
      const { link_challenge_id } = await demandLink(api, newPerson({ email }));
      async function codesOf(client: ApiDriver): Promise<number> {
        for (let count = 0; ; count += 1) {
          const { status } = await client.requestLinkCode({ link_challenge_id });
          if (status === 429) return count;
          expect(status).toBe(202);
        }
      }
      expect(await codesOf(from('198.51.100.8', newDevice()))).toBe(5);
      expect(await codesOf(home)).toBe(codes);
    },
  );

  test('a late code for a link answers 410, and one that has been guessed at five times is dead', async () => {
    const { person } = await accountAndPerson();
    const { link_challenge_id } = await demandLink(api, person);
    const [late, guessed] = [await proveByCode(api, link_challenge_id), await proveByCode(api, link_challenge_id)];
    await expire(api, late.challenge_id);
    expect(statusAndCode(await linkByProof(api, link_challenge_id, late))).toEqual([410, 'ERR-CODE-EXPIRED']);
    for (let tries = 0; tries < 5; tries += 1) {
      const code = await wrongCodeOf(api, guessed.challenge_id);
      await linkByProof(api, link_challenge_id, { ...guessed, code });
    }
    const { json } = await linkByProof(api, link_challenge_id, guessed);
    expect(json.details.tries_left).toBe(0);
  });

  test('a code for a link takes the account back from somebody who has registered it, before it links', async () => {
    const squatter = await newSession(api);
    const { user_id, email } = squatter;
    const { authenticator } = await addPasskey(api, squatter);
    const theirs = newPerson();
    await linkIdentity(api, squatter, theirs);
    const { link_challenge_id, passkey_options } = await demandLink(api, newPerson({ email }));
    const second = await demandLink(api, newPerson({ email }), 'partner');
    const owner = await linkByProof(api, link_challenge_id, await proveByCode(api, link_challenge_id));
    expect(owner.status).toBe(200);
    const after = await stored(user_id);
    expect([after?.passkeys, after?.identities?.length, after?.is_password_void]).toEqual([[], 1, true]);
    expect(after?.email_verified_at).toBeInstanceOf(Date);
    expect(await sessionsOf(user_id)).toBe(1);
    expect((await api.logIn({ email, password })).status).toBe(401);
    const byPasskey = { credential: authenticator.get(passkey_options) };
    expect((await linkByProof(api, link_challenge_id, byPasskey)).status).toBe(410);
    expect((await linkByProof(api, second.link_challenge_id, { password })).status).toBe(401);
    expect(statusAndCode(await logInByProvider(api, theirs))).toEqual([403, 'ERR-REGISTRATION-REQUIRED']);
    expect(await purposesOf(user_id)).toEqual(
      expect.arrayContaining(['email_verified', 'identity_unlinked', 'identity_linked']),
    );
  });

  test('a code for a link answers 410 once the account has changed', async () => {
    const { person, session } = await accountAndPerson();
    const { link_challenge_id } = await demandLink(api, person);
    await confirmReset(api, await requestReset(api, session.email));
    const answer = await api.requestLinkCode({ link_challenge_id });
    expect(statusAndCode(answer)).toEqual([410, 'ERR-CODE-EXPIRED']);
    await logIn(api, session.email, { password: 'three wrong staples' });
  });
});

test('with one nonce for two persons, neither a code nor a repeat counts for the other person', async () => {
  const { email, user_id } = await registerAccount(api);
  const { challenge_id, nonce } = await requestProviderLogin(api);
  const demand = async (provider: Provider) => {
    const id_token = await signIdToken(provider, { ...newPerson({ email }), nonce });
    const { json } = await api.logInByProvider({ provider, challenge_id, id_token });
    return String(json.details.link_challenge_id);
  };
  const [named, other] = [await demand('office'), await demand('partner')];
  const code = await proveByCode(api, named);
  const answers = [await linkByProof(api, other, code), await linkByProof(api, named, code)];
  expect(answers.map(({ status }) => status)).toEqual([403, 200]);
  expect((await linkByProof(api, other, code)).status).toBe(410);
  expect((await stored(user_id))?.identities?.map(({ provider }) => provider)).toEqual(['office']);
});

test('a squatter who has used up the links of a day and all places for identities keeps nobody out', async () => {
  const victim = newPerson();
  await registerAccount(limited, victim.email);
  const squatter = await logIn(limited, victim.email);
  for (let links = 0; links < 10; links += 1) await linkIdentity(limited, squatter, newPerson());
  const { link_challenge_id } = await demandLink(limited, victim);
  expect((await linkByProof(limited, link_challenge_id, { password })).status).toBe(429);
  const owner = await linkByProof(limited, link_challenge_id, await proveByCode(limited, link_challenge_id));
  expect(owner.status).toBe(200);
  const after = await limited.collections.users.findOne({ _id: owner.json.data.user_id });
  expect(after?.identities?.map(({ sub }) => sub)).toEqual([victim.sub]);
  // The email address is proved now: each further link counts, from one again.
  const link = async () => {
    const { link_challenge_id: id } = await demandLink(strict, newPerson({ email: victim.email }));
    return (await linkByProof(strict, id, await proveByCode(strict, id))).status;
  };
  expect([await link(), await link()]).toEqual([200, 429]);
});

test('the audit log has each step of a link, and neither tokens nor the provider’s ids', async () => {
  const holder = await newSession(api);
  const person = newPerson({ email: holder.email });
  const { link_challenge_id } = await demandLink(api, person);
  await linkByProof(api, link_challenge_id, { password: 'wrong password' });
  await linkByProof(api, link_challenge_id, { password });
  const audited = log.takeEvents();
  const lines = audited.filter(({ user_id }) => user_id === holder.user_id).slice(-3);
  expect(lines).toMatchObject([
    { event: 'login.failed', reason: 'wrong_password' },
    { event: 'login.succeeded', method: 'password' },
    { event: 'identity.linked', provider: 'office' },
  ]);
  const text = JSON.stringify(audited);
  expect([link_challenge_id.slice(-40), person.sub, person.email].map((each) => text.includes(each))).toEqual([
    false,
    false,
    false,
  ]);
});

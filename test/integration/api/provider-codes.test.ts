import { createServer } from 'node:http';
import { startProvider } from '@auth-account/local-stack/provider';
import { readProcessReports } from '@auth-account/messaging/process-reports';
import { redisKeys } from '@auth-account/redis';
import type { IdentityDocument } from '@auth-account/stores/documents';
import { createSealedSecrets, loadKeyFile } from '@auth-account/tokens';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { newSession, password } from '../../support/api/accounts.ts';
import { bearer } from '../../support/api/api-driver.ts';
import {
  exchangingEntry,
  newHome,
  newPerson,
  requestProviderLogin,
  unlinkIdentity,
  webPage,
} from '../../support/api/providers.ts';
import { codeAt, completeLogin, switchOn } from '../../support/api/second-factor.ts';
import { startTestApi, type TestApi } from '../../support/api/test-api.ts';
import { listen } from '../../support/listen.ts';
import { type RecordedLog, recordLog } from '../../support/recorded-log.ts';
import { serviceEnvironment } from '../../support/service-environment.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { eventually } from '../../support/worker/worker-fixture.ts';

let issuer: Awaited<ReturnType<typeof startProvider>>;
let api: TestApi;
/** Called when a code has arrived at the provider, before its answer. */
let onExchange: (() => Promise<unknown>) | undefined;
let exchanges: Awaited<ReturnType<typeof listen>>;
const log: RecordedLog = recordLog('api', 'debug');
beforeAll(async () => {
  issuer = await startProvider();
  const { issuer: url, jwksUri } = issuer;
  const plain = { name: 'plain', issuers: [`${url}/plain`], jwks_uri: jwksUri, client_ids: ['app'] };
  const exchange = createServer(async (req, res) => {
    await onExchange?.();
    issuer.handle(req, res);
  });
  exchanges = await listen(exchange);
  const token_endpoint = `${exchanges.url}/token`;
  const IDENTITY_PROVIDERS = JSON.stringify([{ ...exchangingEntry(issuer), token_endpoint }, plain]);
  api = await startTestApi({ IDENTITY_PROVIDERS }, {}, log.logger);
});
beforeEach(() => {
  onExchange = undefined;
  issuer.behave({}, 'token');
  // No stall of the machine ends an exchange.
  jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
});
afterEach(() => void jest.restoreAllMocks());
afterAll(async () => {
  await api.close();
  await exchanges.close();
  await issuer.close();
});

/** Returns the body of a login with a code of the same person. */
async function proof(person: object & { readonly sub: string }, clientId = 'app') {
  const { challenge_id, nonce } = await requestProviderLogin(api);
  const id_token = await issuer.sign({ ...person, aud: clientId, nonce });
  const page = clientId === 'web' ? webPage : undefined;
  return { challenge_id, id_token, authorization_code: issuer.issueCode({ sub: person.sub, aud: clientId }, page) };
}

async function storedToken(user_id: string): Promise<IdentityDocument['refresh_token']> {
  return (await api.collections.users.findOne({ _id: user_id }))?.identities?.[0]?.refresh_token;
}

/** Opens the stored token as the server's keys seal it. */
async function openedToken(user_id: string): Promise<string> {
  const identity = (await api.collections.users.findOne({ _id: user_id }))?.identities?.[0];
  return opened(identity?.refresh_token, user_id, identity?.id ?? '');
}

async function opened(sealed: IdentityDocument['refresh_token'], userId: string, factorId: string): Promise<string> {
  if (sealed === undefined) throw new Error('there is no token');
  const keys = await loadKeyFile(serviceEnvironment('').SERVER_KEYS_FILE ?? '');
  const box = Buffer.from(sealed.token.value());
  return createSealedSecrets(keys).open({ kid: sealed.kid, box }, { userId, factorId }).toString();
}

const outcomeOf = (user_id: string) =>
  log.lines.filter(({ event, ...line }) => String(event).startsWith('provider_token') && line.user_id === user_id);

describe('an authorization code of a provider', () => {
  test('the code of a registration is exchanged, and the token is stored sealed', async () => {
    const person = newPerson();
    const { status, json } = await api.logInByProvider({
      provider: 'office',
      ...(await proof(person, 'web')),
      ...newHome,
    });
    expect(status).toBe(201);
    const { user_id } = json.data;
    expect(await openedToken(user_id)).toBe(issuer.issued().at(-1));
    expect(await storedToken(user_id)).toMatchObject({ client_id: 'web' });
    expect(outcomeOf(user_id)).toMatchObject([{ event: 'provider_token.kept', provider: 'office' }]);
    expect(await api.metric('auth_provider_codes_total', { outcome: 'kept' })).toBeGreaterThan(0);
  });

  test('the code of a link is exchanged, and later codes are not', async () => {
    const session = await newSession(api);
    const person = newPerson();
    const body = { ...(await proof(person)), current_password: password };
    expect((await api.linkIdentity({ identity: 'office', ...body }, bearer(session))).status).toBe(201);
    const kept = await openedToken(session.user_id);
    const asked = issuer.asked('token');
    expect((await api.logInByProvider({ provider: 'office', ...(await proof(person)) })).status).toBe(200);
    expect([issuer.asked('token'), await openedToken(session.user_id)]).toEqual([asked, kept]);
  });

  test('a code may come with the first step of a login with a second factor', async () => {
    const session = await newSession(api);
    const person = newPerson();
    const { authorization_code: _, ...body } = { ...(await proof(person)), current_password: password };
    await api.linkIdentity({ identity: 'office', ...body }, bearer(session));
    const at = Date.now();
    const { secret } = await switchOn(api, session, at);
    const pendingLogin = await api.logInByProvider({ provider: 'office', ...(await proof(person)) });
    expect(pendingLogin.json.error_code).toBe('ERR-SECOND-FACTOR-REQUIRED');
    expect(await openedToken(session.user_id)).toBe(issuer.issued().at(-1));
    const code = codeAt(secret, at + 30_000);
    expect((await completeLogin(api, pendingLogin.json.details.challenge_id, { code })).status).toBe(200);
  });
});

/** Returns an answer of the token endpoint. Nobody checks the signature of its token. */
function answerFor(aud: string): string {
  const part = (json: object) => Buffer.from(JSON.stringify(json)).toString('base64url');
  return JSON.stringify({ refresh_token: 'r', id_token: `${part({ alg: 'none' })}.${part({ aud, sub: 'x' })}.` });
}

describe('a code that brings no token', () => {
  const notExchanged = 'the code of a provider was not exchanged';
  const faultsLogged = () => log.lines.filter(({ msg }) => msg === notExchanged).length;

  // guarantees: provider-codes
  test.each([
    ['an outage', { status: 503 }, 'unavailable'],
    ['too large an answer', { body: 'x'.repeat(70_000) }, 'unavailable'],
    ['a refusal', { status: 400, body: '{"error":"invalid_grant"}' }, 'wrong_code'],
    ['an answer without a token', { body: '{}' }, 'no_token'],
    ['an answer that is no JSON', { body: 'refresh-secret' }, 'no_token'],
    ['a key that the provider refuses', { status: 400, body: '{"error":"invalid_client"}' }, 'wrong_client'],
    ['a client without the right', { status: 400, body: '{"error":"unauthorized_client"}' }, 'wrong_client'],
    ['a refusal by status', { status: 401, body: '' }, 'wrong_client'],
    ['a wrong page', { status: 400, body: '{"error":"redirect_uri_mismatch"}' }, 'wrong_page'],
    ['an answer for another app', { body: answerFor('another') }, 'other_app'],
  ] as const)(
    'a code that brings no token because of %s refuses no login, and the next login tries again',
    async (_, behaviour, reason) => {
      const person = newPerson();
      const before = faultsLogged();
      const counted = () => api.metric('auth_provider_codes_total', { provider: 'office', outcome: reason });
      const countedBefore = await counted();
      issuer.behave(behaviour, 'token');
      const { status, json } = await api.logInByProvider({ provider: 'office', ...(await proof(person)), ...newHome });
      expect(status).toBe(201);
      const { user_id } = json.data;
      expect(await storedToken(user_id)).toBeUndefined();
      expect(outcomeOf(user_id)).toMatchObject([{ event: 'provider_token.refused', reason, outcome: 'failure' }]);
      expect([faultsLogged(), await counted()]).toEqual([before + 1, countedBefore + 1]);
      expect(log.lines).toContainEqual(expect.objectContaining({ msg: notExchanged, provider: 'office', reason }));
      issuer.behave({}, 'token');
      expect((await api.logInByProvider({ provider: 'office', ...(await proof(person)) })).status).toBe(200);
      expect(await openedToken(user_id)).toBe(issuer.issued().at(-1));
    },
  );

  test('a code that gets no answer in 3 s refuses no login', async () => {
    const person = newPerson();
    // Makes the api fetch the provider's keys, if no other test has.
    expect((await api.logInByProvider({ provider: 'office', ...(await proof(person)) })).json.error_code).toBe(
      'ERR-REGISTRATION-REQUIRED',
    );
    const timeouts: number[] = [];
    const timeOut = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      timeouts.push(ms);
      return AbortSignal.abort(new DOMException('it took too long', 'TimeoutError'));
    });
    const { status, json } = await api.logInByProvider({ provider: 'office', ...(await proof(person)), ...newHome });
    timeOut.mockRestore();
    expect([status, await storedToken(json.data.user_id), timeouts]).toEqual([201, undefined, [3_000]]);
    expect(outcomeOf(json.data.user_id)).toMatchObject([{ reason: 'unavailable', outcome: 'failure' }]);
  });

  test('a code whose token the store does not take refuses no login', async () => {
    const { mongo, database, collections } = api;
    const refuse = (validator: object) =>
      mongo.db(database).command({ collMod: collections.users.collectionName, validator });
    await refuse({ 'identities.refresh_token': { $exists: false } });
    try {
      const { status, json } = await api.logInByProvider({
        provider: 'office',
        ...(await proof(newPerson())),
        ...newHome,
      });
      expect([status, await storedToken(json.data.user_id)]).toEqual([201, undefined]);
      expect(outcomeOf(json.data.user_id)).toMatchObject([{ reason: 'not_stored' }]);
      expect(log.lines).toContainEqual(expect.objectContaining({ msg: "a provider's token was not stored" }));
    } finally {
      await refuse({});
    }
  });

  test('a code whose provider exchanges none refuses no login, nor does a missing code', async () => {
    const asked = issuer.asked('token');
    const { challenge_id, nonce } = await requestProviderLogin(api);
    const id_token = await issuer.sign({ ...newPerson(), iss: `${issuer.issuer}/plain`, aud: 'app', nonce });
    const body = { challenge_id, id_token, authorization_code: 'any', ...newHome };
    const plain = await api.logInByProvider({ provider: 'plain', ...body });
    const { authorization_code: _, ...without } = await proof(newPerson());
    const bare = await api.logInByProvider({ provider: 'office', ...without, ...newHome });
    expect([plain.status, bare.status, issuer.asked('token')]).toEqual([201, 201, asked]);
    expect([plain, bare].flatMap(({ json }) => outcomeOf(json.data.user_id))).toEqual([]);
  });

  test('the code of somebody else refuses no login', async () => {
    const authorization_code = issuer.issueCode({ sub: 'somebody else', aud: 'app' });
    const { status, json } = await api.logInByProvider({
      provider: 'office',
      ...(await proof(newPerson())),
      authorization_code,
      ...newHome,
    });
    expect([status, await storedToken(json.data.user_id)]).toEqual([201, undefined]);
    expect(outcomeOf(json.data.user_id)).toMatchObject([{ reason: 'other_person' }]);
  });

  test('a code that was sent to a page that nobody has configured refuses no login', async () => {
    const person = newPerson();
    const authorization_code = issuer.issueCode({ sub: person.sub, aud: 'app' }, webPage);
    const { status, json } = await api.logInByProvider({
      provider: 'office',
      ...(await proof(person)),
      authorization_code,
      ...newHome,
    });
    expect([status, outcomeOf(json.data.user_id).map(({ reason }) => reason)]).toEqual([201, ['wrong_page']]);
  });

  test('a code of another app, or a used one, refuses no login', async () => {
    const person = newPerson();
    const { json } = await api.logInByProvider({
      provider: 'office',
      ...(await proof(person)),
      authorization_code: 'unknown',
      ...newHome,
    });
    const { authorization_code } = await proof(person, 'web');
    expect(
      (await api.logInByProvider({ provider: 'office', ...(await proof(person)), authorization_code })).status,
    ).toBe(200);
    expect(outcomeOf(json.data.user_id).map(({ reason }) => reason)).toEqual(['wrong_code', 'wrong_code']);
  });

  test('a code is not used up if the person must register first', async () => {
    const body = await proof(newPerson());
    const asked = issuer.asked('token');
    expect((await api.logInByProvider({ provider: 'office', ...body })).json.error_code).toBe(
      'ERR-REGISTRATION-REQUIRED',
    );
    expect(issuer.asked('token')).toBe(asked);
    const { json } = await api.logInByProvider({ provider: 'office', ...body, ...newHome });
    expect(await storedToken(json.data.user_id)).toBeDefined();
  });
});

// guarantees: provider-codes
test.each(['unlinked', 'given up by its provider', 'erased with its account'])(
  'the token of an identity that was %s during the exchange of the code waits for its revocation',
  async (how) => {
    const session = await newSession(api);
    const { user_id } = session;
    const person = newPerson();
    const { authorization_code: _, ...body } = { ...(await proof(person)), current_password: password };
    const { json } = await api.linkIdentity({ identity: 'office', ...body }, bearer(session));
    const { identity_id } = json.data;
    const { users, providerRevocations } = api.collections;
    onExchange = async () => {
      if (how === 'unlinked') await unlinkIdentity(api, session, identity_id);
      else if (how === 'erased with its account') await users.deleteOne({ _id: user_id });
      else await users.updateOne({ _id: user_id }, { $pull: { identities: { id: identity_id } } });
    };
    await api.logInByProvider({ provider: 'office', ...(await proof(person)) });
    const row = await providerRevocations.findOne({ _id: identity_id });
    expect(row).toMatchObject({ user_id, provider: 'office', client_id: 'app', attempts: 0 });
    expect(await opened(row ?? undefined, user_id, identity_id)).toBe(issuer.issued().at(-1));
    expect(outcomeOf(user_id)).toMatchObject([{ event: 'provider_token.refused', reason: 'identity_gone' }]);
  },
);

test('simultaneous logins with codes store one token', async () => {
  const person = newPerson();
  const { authorization_code: _, ...first } = await proof(person);
  const { user_id } = (await api.logInByProvider({ provider: 'office', ...first, ...newHome })).json.data;
  const bodies = await Promise.all(Array.from({ length: 4 }, () => proof(person)));
  // On a busy machine a login of one account may have to wait too long for the others.
  const answers = await Promise.all(bodies.map((body) => api.logInByProvider({ provider: 'office', ...body })));
  expect(answers.map(({ status }) => status)).toContain(200);
  expect(issuer.issued()).toContain(await openedToken(user_id));
  const outcomes = outcomeOf(user_id);
  expect(outcomes.filter(({ event }) => event === 'provider_token.kept')).toHaveLength(1);
  // The others came too late, which is no refusal. On a busy machine a code may get no answer.
  const others = outcomes.filter(({ event, reason }) => event !== 'provider_token.kept' && reason !== 'unavailable');
  expect(others).toEqual([]);
});

// guarantees: provider-codes
test('of many codes at once 32 are exchanged, and the other logins wait for none of them and exchange the next code', async () => {
  let [asked, answered] = [0, 0];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  onExchange = () => {
    asked += 1;
    return held;
  };
  const people = Array.from({ length: 34 }, () => newPerson());
  const logins = people.map(async (person) => {
    const answer = await api.logInByProvider({ provider: 'office', ...(await proof(person)), ...newHome });
    answered += 1;
    return { person, status: answer.status, user_id: answer.json.data.user_id };
  });
  await eventually('the exchanges and the other logins', () => asked === 32 && answered === 2);
  release();
  onExchange = undefined;
  const all = await Promise.all(logins);
  expect(new Set(all.map(({ status }) => status))).toEqual(new Set([201]));
  const without = all.filter(({ user_id }) => outcomeOf(user_id).some(({ reason }) => reason === 'unavailable'));
  expect(without).toHaveLength(2);
  for (const { person, user_id } of without) {
    expect((await api.logInByProvider({ provider: 'office', ...(await proof(person)) })).status).toBe(200);
    expect(await openedToken(user_id)).toBe(issuer.issued().at(-1));
  }
});

test('an api reports that a provider refuses its key', async () => {
  issuer.behave({ status: 400, body: '{"error":"invalid_client"}' }, 'token');
  await api.logInByProvider({ provider: 'office', ...(await proof(newPerson())), ...newHome });
  const redis = new Redis(testEnvironment().redisUrl);
  const reports = () => readProcessReports(redis, redisKeys(api.keyPrefix));
  await eventually('it reports', async () => (await reports())[0]?.refused_by?.office?.fault === 'wrong_client');
  redis.disconnect();
});

test('no log names a token or the key', () => {
  const text = JSON.stringify(log.lines);
  expect(issuer.issued().filter((token) => text.includes(token))).toEqual([]);
  expect(text).not.toMatch(/BEGIN|client_secret/);
});

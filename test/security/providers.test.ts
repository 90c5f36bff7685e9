import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newSession, password } from '../support/api/accounts.ts';
import { addPasskey, deletePasskey, revokePassword } from '../support/api/passkeys.ts';
import {
  linkIdentity,
  logInByProvider,
  newHome,
  newPerson,
  provePerson,
  unlinkIdentity,
} from '../support/api/providers.ts';
import { challengeStepUp, confirmStepUp } from '../support/api/step-up.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { flood, othersIn, sessionsIn } from './flood.ts';

/** Rounds of a race: 3 unless `CODE_RACE_ROUNDS` says 50. */
const rounds = Number(process.env.CODE_RACE_ROUNDS || 3);

/** Two pods of one deployment. */
let api: TestApi;
let other: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  other = await api.beside();
});
afterAll(() => api.close());

// guarantees: one-session-per-proof
// answers: Zitadel CVE-2025-46815, https://github.com/zitadel/zitadel/security/advisories/GHSA-g4r8-mp7g-85fq
// The result of one login by a provider opened sessions again and again.
test('one ID token opens one session, however many requests send it at once to two pods', async () => {
  const person = newPerson();
  const { json } = await logInByProvider(api, person, newHome);
  const { user_id } = json.data;
  const before = await api.collections.sessions.countDocuments({ user_id });
  const proof = await provePerson(api, person);
  const answers = await flood([api, other], (pod) =>
    pod.logInByProvider({ provider: 'office', ...proof, device_id: randomUUID() }),
  );
  expect(sessionsIn(answers).size).toBeLessThanOrEqual(1);
  expect(othersIn(answers, ['410 ERR-CODE-EXPIRED'])).toEqual([]);
  expect((await api.collections.sessions.countDocuments({ user_id })) - before).toBe(1);
});

// guarantees: one-session-per-proof
test('one person who registers many times at once gets one account, and each registration is logged in', async () => {
  const person = newPerson();
  const proofs = await Promise.all(Array.from({ length: 20 }, () => provePerson(api, person)));
  const answers = await Promise.all(
    proofs.map((proof, at) => (at % 2 ? api : other).logInByProvider({ provider: 'office', ...proof, ...newHome })),
  );
  const failed = answers.filter(({ status }) => status !== 200 && status !== 201);
  expect(failed.map(({ text }) => text)).toEqual([]);
  expect(answers.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
  expect(await api.collections.users.countDocuments({ email: person.email })).toBe(1);
});

test('one person whom many accounts link at once is linked to one', async () => {
  const person = newPerson();
  const sessions = await Promise.all(Array.from({ length: 10 }, () => newSession(api)));
  const answers = await Promise.all(sessions.map((session, at) => linkIdentity(at % 2 ? api : other, session, person)));
  const statuses = answers.map(({ status }) => status).toSorted();
  expect(statuses).toEqual([201, ...Array(9).fill(409)]);
  const holders = { identities: { $elemMatch: { provider: 'office', sub: person.sub } } };
  expect(await api.collections.users.countDocuments(holders)).toBe(1);
});

test('the last credential stays, also if a passkey and an identity are removed at once', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const session = await newSession(api);
    const { passkey_id } = await addPasskey(api, session);
    const { identity_id } = (await linkIdentity(api, session, newPerson())).json.data;
    const tokenFor = async (purpose: string) => {
      const proof = { method: 'password', password };
      const challenge_id = await challengeStepUp(api, session, purpose);
      return { step_up_token: (await confirmStepUp(api, session, challenge_id, proof)).json.data.step_up_token };
    };
    const [forPasskey, forIdentity] = [await tokenFor('passkeys'), await tokenFor('identities')];
    await revokePassword(api, session);
    const answers = await Promise.all([
      deletePasskey(api, session, passkey_id, forPasskey),
      unlinkIdentity(other, session, identity_id, forIdentity),
    ]);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const user = await api.collections.users.findOne({ _id: session.user_id });
    expect([...(user?.passkeys ?? []), ...(user?.identities ?? [])]).toHaveLength(1);
  }
});

// guarantees: unknown-provider-keys
test('a provider that is down fails only its own logins', async () => {
  const entry = {
    name: 'down',
    issuers: ['http://127.0.0.1:9'],
    jwks_uri: 'http://127.0.0.1:9/keys',
    client_ids: ['app'],
  };
  const off = await startTestApi({ IDENTITY_PROVIDERS: JSON.stringify([entry]) });
  try {
    const body = await provePerson(off, newPerson());
    const answer = await off.logInByProvider({ provider: 'down', ...body });
    expect([answer.status, answer.json.error_code]).toEqual([503, 'ERR-DEPENDENCY-UNAVAILABLE']);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect((await newSession(off)).access_token).toEqual(expect.any(String));
  } finally {
    await off.close();
  }
});

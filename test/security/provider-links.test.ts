import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { logIn, newSession, password, registerAccount } from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { codeOf, requestChange } from '../support/api/codes.ts';
import { addPasskey, logInByPasskey } from '../support/api/passkeys.ts';
import {
  demandLink,
  linkByProof,
  linkIdentity,
  logInByProvider,
  newHome,
  newPerson,
  proveByCode,
  provePerson,
} from '../support/api/providers.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import type { Answer } from '../support/http-client.ts';
import { flood } from './flood.ts';

/** Two pods of one deployment. */
let api: TestApi;
let other: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  other = await api.beside();
});
afterAll(() => api.close());

const stored = (user_id: string) => api.collections.users.findOne({ _id: user_id });
const sessionsOf = (user_id: string) => api.collections.sessions.countDocuments({ user_id, is_revoked: false });
/** 60 unless `LINK_COUNT` says 1000. */
const count = Number(process.env.LINK_COUNT || 60);
const isRight = ({ status }: Answer) => status === 200;

// guarantees: address-joins-nothing
test.each([
  ['code', (id: string) => proveByCode(api, id)],
  ['password', async () => ({ password })],
])(
  'many links with one %s at once on two pods open one session and link one identity',
  async (_, prove) => {
    const { email, user_id } = await registerAccount(api);
    await api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
    const { link_challenge_id } = await demandLink(api, newPerson({ email }));
    const proof = await prove(link_challenge_id);
    const send = (pod: TestApi) => linkByProof(pod, link_challenge_id, { ...proof, device_id: randomUUID() });
    const answers = await flood([api, other], send, count);
    expect(answers.filter(isRight).length).toBeLessThanOrEqual(1);
    expect(answers.filter(({ status }) => status === 500)).toEqual([]);
    expect(await sessionsOf(user_id)).toBe(1);
    expect((await stored(user_id))?.identities).toHaveLength(1);
  },
  300_000 + 1_200 * count,
);

test('only one of many link challenges of one account and person links and logs in', async () => {
  const { email, user_id } = await registerAccount(api);
  await api.collections.users.updateOne({ _id: user_id }, { $set: { email_verified_at: new Date(0) } });
  const person = newPerson({ email });
  const demands = await Promise.all(Array.from({ length: 8 }, () => demandLink(api, person)));
  const answers = await Promise.all(
    demands.map(({ link_challenge_id }, at) => linkByProof(at % 2 ? api : other, link_challenge_id, { password })),
  );
  expect(answers.filter(isRight)).toHaveLength(1);
  expect([await sessionsOf(user_id), (await stored(user_id))?.identities?.length]).toEqual([1, 1]);
});

// guarantees: address-joins-nothing
// answers: Keycloak CVE-2026-15571, https://github.com/keycloak/keycloak/issues/51832
// A client could predict the hash that protected a link, and link its identity to a victim’s account.
test('the link challenge of another account is refused with one’s own password, passkey or code', async () => {
  const victim = await newSession(api);
  const thief = await newSession(api);
  const { authenticator } = await addPasskey(api, thief);
  const theirs = await demandLink(api, newPerson({ email: thief.email }));
  const { link_challenge_id, passkey_options } = await demandLink(api, newPerson({ email: victim.email }), 'partner');
  const code = await proveByCode(api, theirs.link_challenge_id);
  const own = authenticator.get(passkey_options);
  const handles = await Promise.all(
    [code, { credential: own }, { credential: authenticator.get(theirs.passkey_options) }].map((proof) =>
      linkByProof(api, link_challenge_id, proof),
    ),
  );
  expect(handles.map(({ status }) => status)).toEqual([403, 403, 403]);
  expect((await linkByProof(api, link_challenge_id, { password: 'the thief has another' })).status).toBe(401);
  expect([await sessionsOf(victim.user_id), (await stored(victim.user_id))?.identities]).toEqual([1, undefined]);
});

// answers: better-auth CVE-2026-114607, https://nvd.nist.gov/vuln/detail/CVE-2026-114607
// A state was taken as a link.
test('a challenge of a login links nothing, and a link challenge logs nobody in', async () => {
  const victim = await newSession(api);
  const person = newPerson({ email: victim.email });
  const thief = await newSession(api);
  const { link_challenge_id } = await demandLink(api, person);
  const { challenge_id, id_token } = await provePerson(api, newPerson());
  const asked = { link: { user_id: victim.user_id }, link_challenge_id, user_id: victim.user_id };
  const answers = [
    await linkByProof(api, challenge_id, { password }),
    await api.logInByProvider({ provider: 'office', challenge_id: link_challenge_id, id_token }),
    await api.linkIdentity(
      { identity: 'office', challenge_id: link_challenge_id, id_token, current_password: password },
      bearer(thief),
    ),
    await api.logInByProvider({ provider: 'office', challenge_id, id_token, ...asked }),
  ];
  expect(answers.map(({ status, json }) => [status, json.error_code])).toEqual([
    [410, 'ERR-CODE-EXPIRED'],
    [410, 'ERR-CODE-EXPIRED'],
    [410, 'ERR-CODE-EXPIRED'],
    [403, 'ERR-REGISTRATION-REQUIRED'],
  ]);
  for (const { user_id } of [victim, thief]) expect((await stored(user_id))?.identities).toBeUndefined();
});

const readAccount = (caller: Parameters<typeof bearer>[0]) => api.findAccount(bearer(caller));

/** Registers the email address of another person, and logs in. */
const squat = async (email: string) => ({ ...(await registerAccount(api, email)), ...(await logIn(api, email)) });

/** The attacks of Sudhodanan and Paverd, "Pre-hijacked accounts" (2022), each prepared before the victim comes. */
const preHijacks: Readonly<Record<string, (email: string) => Promise<() => Promise<Answer[]>>>> = {
  async 'classic-federated merge'(email) {
    await registerAccount(api, email);
    return async () => [await api.logIn({ email, password })];
  },
  async 'unexpired session'(email) {
    const squatter = await squat(email);
    return async () => [
      await readAccount(squatter),
      await api.refreshTokens({ refresh_token: squatter.refresh_token }),
    ];
  },
  async 'trojan identifier'(email) {
    const squatter = await squat(email);
    const { authenticator } = await addPasskey(api, squatter);
    const person = newPerson();
    await linkIdentity(api, squatter, person);
    return async () => [await logInByPasskey(api, authenticator), await logInByProvider(api, person)];
  },
  async 'unexpired change of the email address'(email) {
    const squatter = await squat(email);
    const challenge_id = await requestChange(api, squatter, newPerson().email);
    const code = await codeOf(api, challenge_id);
    return async () => [await api.confirmEmailChange({ challenge_id, code }, bearer(squatter))];
  },
  async 'non-verifying provider'(email) {
    const person = newPerson({ email });
    const { json } = await logInByProvider(api, person, newHome, 'partner');
    return async () => [await readAccount(json.data), await logInByProvider(api, person, {}, 'partner')];
  },
};

// guarantees: squatter-keeps-nothing
// answers: better-auth CVE-2026-53516, https://github.com/advisories/GHSA-g38m-r43w-p2q7
// Somebody registered an email address without proving it. The owner’s first login by a provider linked the identity to
// that account.
test.each(Object.keys(preHijacks))(
  'after the pre-hijack “%s”, a victim who links by code has the account alone',
  async (name) => {
    const victim = newPerson();
    const attack = await preHijacks[name]?.(victim.email);
    const { link_challenge_id } = await demandLink(api, victim);
    const { status, json } = await linkByProof(api, link_challenge_id, await proveByCode(api, link_challenge_id));
    expect(status).toBe(200);
    const answers = (await attack?.()) ?? [];
    expect(answers.map((answer) => answer.status >= 400)).toEqual(answers.map(() => true));
    const after = await stored(json.data.user_id);
    expect([after?.email, after?.identities?.map(({ sub }) => sub)]).toEqual([victim.email, [victim.sub]]);
    expect(await sessionsOf(json.data.user_id)).toBe(1);
    expect((await logInByProvider(api, victim)).json.data.user_id).toBe(json.data.user_id);
  },
);

import type { AuthError } from '@auth-account/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { password } from '../../support/api/accounts.ts';
import { codeOf as mailedCodeOf } from '../../support/api/codes.ts';
import { newPerson, type Person, signIdToken } from '../../support/api/providers.ts';
import { codeAt } from '../../support/api/second-factor.ts';
import {
  type ClientFixture,
  codeOf,
  noStream,
  openClientFixture,
  type TestApp,
} from '../../support/client/client-fixture.ts';

const reauthentication = { current_password: password };

let fixture: ClientFixture;

beforeAll(async () => {
  fixture = await openClientFixture();
});
afterAll(() => fixture.close());

type Client = TestApp['client'];

/** Lets the provider name a person to the app. */
async function named(client: Client, person: Person) {
  const { challenge_id, nonce } = await client.federated.challenge();
  return { challenge_id, id_token: await signIdToken('office', { ...person, nonce }) };
}

const logIn = async (client: Client, person: Person) =>
  client.federated.logInWith('office', await named(client, person));

/** An app whose user has logged out, and the person of the same email address. */
async function namesake() {
  const app = await fixture.signedIn(noStream);
  await app.client.logOut();
  return { ...app, person: newPerson({ email: app.email }) };
}

test('a new person registers and comes again, also if the answers are lost', async () => {
  const { client, network, events } = fixture.app(noStream);
  const person = newPerson();
  expect(await codeOf(logIn(client, person))).toBe('ERR-REGISTRATION-REQUIRED');
  const { email } = person;
  const waits = { provider: 'office', needs: 'registration', email, display_name: 'Anna' };
  expect(client.federated.waiting()).toMatchObject(waits);
  network.plan('/federated/office', 'answer_lost');
  const session = await client.federated.register({ space_creation_mode: 'CREATE_NEW_HOME', display_name: 'Anna' });
  expect(client.state()).toEqual({ status: 'signed_in', session });
  expect(client.federated.waiting()).toBeUndefined();
  expect(events).toContainEqual({ type: 'federated', status: 'over' });
  expect((await client.account.find()).display_name).toBe('Anna');
  await client.logOut();
  network.plan('/federated/office', 'answer_lost');
  expect((await logIn(client, person)).user_id).toBe(session.user_id);
  expect((await client.sessions.list()).sessions).toHaveLength(1);
});

test('a person whose email address has an account proves it by the password, a code, or a passkey', async () => {
  const proofs: readonly ((app: TestApp) => Promise<Parameters<Client['federated']['logInAndLink']>[0]>)[] = [
    async () => ({ password }),
    async ({ client }) => {
      const { challenge_id } = await client.federated.requestLinkCode();
      return { code: await mailedCodeOf(fixture.api, challenge_id) };
    },
    async ({ client }) => {
      const waiting = client.federated.waiting();
      if (waiting?.needs !== 'link') throw new Error('nobody waits');
      return { credential: await client.passkeys.prove(waiting.passkey_options ?? {}) };
    },
  ];
  for (const prove of proofs) {
    const app = await fixture.signedIn(noStream);
    const { client, email, network } = app;
    await client.passkeys.create(reauthentication);
    await client.logOut();
    const person = newPerson({ email });
    expect(await codeOf(logIn(client, person))).toBe('ERR-ACCOUNT-LINK-REQUIRED');
    expect(client.federated.waiting()).toMatchObject({ needs: 'link', provider: 'office' });
    const proof = await prove(app);
    network.plan('/federated/link', 'answer_lost');
    await client.federated.logInAndLink(proof);
    expect((await client.federated.identities()).identities).toMatchObject([{ provider: 'office', email }]);
    await client.logOut();
    await logIn(client, person);
    expect(client.state().status).toBe('signed_in');
  }
});

test('a wrong proof lets the person go on, and nobody goes on who has given up', async () => {
  const { client, person } = await namesake();
  await codeOf(logIn(client, person));
  expect(await codeOf(client.federated.logInAndLink({ password: 'wrong' }))).toBe('ERR-INVALID-CREDENTIALS');
  expect(client.federated.waiting()?.needs).toBe('link');
  const registered = client.federated.register({ space_creation_mode: 'CREATE_NEW_HOME' });
  expect(await codeOf(registered)).toBe('CLIENT_SUPERSEDED');
  client.federated.giveUp();
  expect(await codeOf(client.federated.logInAndLink({ password }))).toBe('CLIENT_SUPERSEDED');
  expect(await codeOf(client.federated.requestLinkCode())).toBe('CLIENT_SUPERSEDED');
});

test('the second factor follows a link and a login by provider, but not on a trusted device', async () => {
  const { client, email } = await fixture.signedIn(noStream);
  const { factor_id, secret } = await client.secondFactor.createTotp(reauthentication);
  const { recovery_codes } = await client.secondFactor.confirmTotp({ factor_id, code: codeAt(secret) });
  await client.logOut();
  const person = newPerson({ email });
  await codeOf(logIn(client, person));
  expect(await codeOf(client.federated.logInAndLink({ password }))).toBe('ERR-SECOND-FACTOR-REQUIRED');
  expect([client.secondFactor.waiting()?.methods, client.federated.waiting()]).toEqual([
    expect.arrayContaining(['totp']),
    undefined,
  ]);
  const recovery = (at: number) => ({ method: 'recovery_code', code: recovery_codes[at] ?? '' }) as const;
  await client.secondFactor.confirm(recovery(0));
  expect((await client.federated.identities()).identities).toHaveLength(1);
  await client.logOut();
  expect(await codeOf(logIn(client, person))).toBe('ERR-SECOND-FACTOR-REQUIRED');
  await client.secondFactor.confirm({ ...recovery(1), trust_device: true });
  await client.logOut();
  await logIn(client, person);
  expect(client.state().status).toBe('signed_in');
});

test('a user links an identity and removes it; a token that does not count is no reason to refresh', async () => {
  const { client, network } = await fixture.signedIn(noStream);
  const person = newPerson();
  const token = await named(client, person);
  const failure = await client.federated
    .link('office', { ...token, id_token: `${token.id_token}x`, ...reauthentication })
    .catch((error: AuthError) => error);
  expect(failure).toMatchObject({
    ...{ code: 'ERR-IDENTITY-TOKEN-INVALID', status: 422 },
    reaction: { type: 'ASK_PROVIDER_AGAIN' },
  });
  expect([network.to('/account/identities/office').length, network.to('/auth/refresh').length]).toEqual([1, 0]);
  network.plan('/account/identities/office', 'answer_lost');
  const { identity_id } = await client.federated.link('office', { ...token, ...reauthentication });
  expect((await client.federated.identities()).identities).toMatchObject([{ identity_id, provider: 'office' }]);
  await client.federated.unlink(identity_id, reauthentication);
  expect((await client.federated.identities()).identities).toEqual([]);
});

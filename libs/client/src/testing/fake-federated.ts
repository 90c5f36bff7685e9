import type { Body } from '../calls/call.ts';
import type { OperationName } from '../generated/operations.ts';
import { isRecord, parseJson } from '../http/exchange.ts';
import { base64url, textOfBase64url } from '../platform/base64url.ts';
import { createOpenSession, type FakeOperation, type FakeOperationsDeps, FakeRefusal } from './fake-logins.ts';
import {
  type FakeIdentity,
  type FakeLink,
  type FakePerson,
  type FakeRecords,
  type FakeUser,
  mailedCode,
  userByEmail,
} from './fake-records.ts';
import { assertFresh, assertNotLast, challengeEnd, demandSecondFactor, endTrust } from './fake-ways.ts';

type Operations = Partial<Record<OperationName, FakeOperation>>;

/** Returns the ID token of a person, as a provider would sign it. The fake service knows every provider. */
export function fakeIdToken(person: { readonly sub: string; readonly email?: string; readonly name?: string }): string {
  const bytes = new TextEncoder().encode(JSON.stringify(person));
  return `fake.${base64url(bytes)}.token`;
}

function personOf(provider: string, token: string): FakePerson {
  const claims = parseJson(textOfBase64url(token.split('.')[1] ?? ''));
  if (!isRecord(claims) || typeof claims.sub !== 'string') throw new FakeRefusal(401, 'ERR-IDENTITY-TOKEN-INVALID');
  const { sub, email, name } = claims as Omit<FakePerson, 'provider'>;
  return { provider, sub, email, name };
}

const identityOf = ({ identities }: FakeRecords, { provider, sub }: FakePerson) =>
  identities.find((one) => one.provider === provider && one.sub === sub);

/** Uses a challenge up. The same proof may come again, for the same session. */
function spend({ spent }: FakeRecords, challengeId: string, proof: string): void {
  if ((spent.get(challengeId) ?? proof) !== proof) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
  spent.set(challengeId, proof);
}

/** Creates the logins by providers. */
export function federatedLoginsOf(deps: FakeOperationsDeps): Operations {
  const { records } = deps;
  const openSession = createOpenSession(deps);
  const proveAccount = createProveAccount(records);
  return {
    createFederatedChallenge: ({ example }) => ({
      ...{ ...example, challenge_id: records.newId(), nonce: records.newId(), expires_at: challengeEnd(records) },
      timestamp: records.now().toISOString(),
    }),
    logInByProvider({ params: { provider = '' }, body, key, reply }) {
      const { challenge_id, id_token, trusted_device_token: token, ...rest } = body as Body<'logInByProvider'>;
      const proof = JSON.stringify([id_token, rest.device_id]);
      if (records.spent.has(challenge_id)) spend(records, challenge_id, proof);
      const person = personOf(provider, id_token);
      const known = identityOf(records, person)?.user_id;
      const user_id = known ?? registered(records, person, challenge_id, rest);
      if (known === undefined) reply.status = 201;
      spend(records, challenge_id, proof);
      const login = { user_id, device: rest, openedBy: { key: proof, body: '' }, ...(key && { key }) };
      demandSecondFactor(records, login, token);
      return openSession(login);
    },
    requestLinkCode({ body, example }) {
      const { link_challenge_id } = body as Body<'requestLinkCode'>;
      const link = records.links.get(link_challenge_id);
      if (link === undefined) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
      link.code_challenge_id = records.newId();
      return { ...example, challenge_id: link.code_challenge_id };
    },
    linkByProof({ body, key }) {
      const input = body as Body<'linkByProof'>;
      const { link_challenge_id, password, credential, code, challenge_id, ...device } = input;
      const link = records.links.get(link_challenge_id);
      if (link === undefined) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
      proveAccount(link, input);
      const proof = JSON.stringify([password, credential, code, device.device_id]);
      spend(records, link.provider_challenge_id, proof);
      const { user_id, person } = link;
      const login = { user_id, device, person, openedBy: { key: proof, body: '' }, ...(key && { key }) };
      if (credential === undefined) demandSecondFactor(records, login, undefined);
      addIdentity(records, user_id, person);
      return openSession(login);
    },
  };
}

/** Registers a person whom no account has. Refuses it without a mode, and if an account has the address. */
function registered(
  records: FakeRecords,
  person: FakePerson,
  provider_challenge_id: string,
  input: Pick<Body<'logInByProvider'>, 'space_creation_mode' | 'display_name'>,
): string {
  const { users, links, newId, now } = records;
  const { email, name } = person;
  const holder = userByEmail(records, email ?? '');
  if (holder) {
    const link_challenge_id = newId();
    links.set(link_challenge_id, { user_id: holder.user_id, person, provider_challenge_id });
    const options = { challenge: link_challenge_id, timeout: 600_000, rpId: 'auth.test', userVerification: 'required' };
    const ways = { methods: ['password', 'passkey', 'email_code'], passkey_options: options };
    const details = { link_challenge_id, ...ways, expires_at: challengeEnd(records) };
    throw new FakeRefusal(409, 'ERR-ACCOUNT-LINK-REQUIRED', details);
  }
  const { space_creation_mode: mode, display_name = null } = input;
  if (mode === undefined) {
    const details = { ...(email && { email }), ...(name && { display_name: name }) };
    throw new FakeRefusal(403, 'ERR-REGISTRATION-REQUIRED', details);
  }
  if (email === undefined) throw new FakeRefusal(401, 'ERR-IDENTITY-TOKEN-INVALID');
  const account_type = mode === 'CREATE_NEW_OFFICE' ? 'OFFICE' : 'HOME';
  const ids = { user_id: newId(), home_group_id: newId(), account_type } as const;
  const facts = { email, password: '', display_name, locale: null, created_at: now().toISOString() };
  users.set(ids.user_id, { ...ids, ...facts } satisfies FakeUser);
  addIdentity(records, ids.user_id, person);
  return ids.user_id;
}

function createProveAccount({ users, passkeys }: FakeRecords) {
  return ({ user_id, code_challenge_id }: FakeLink, proof: Body<'linkByProof'>): void => {
    const { password, credential, challenge_id, code } = proof;
    if (password !== undefined) {
      if (!password || users.get(user_id)?.password !== password) throw new FakeRefusal(401, 'ERR-INVALID-CREDENTIALS');
    } else if (credential !== undefined) {
      if (passkeys.get(credential.id)?.user_id !== user_id) throw new FakeRefusal(403, 'ERR-PASSKEY-INVALID');
    } else if (challenge_id !== code_challenge_id || code !== mailedCode)
      throw new FakeRefusal(403, 'ERR-CODE-INVALID', { tries_left: 4 });
  };
}

/** Gives a user an identity. Refuses one that another account has. */
export function addIdentity(records: FakeRecords, user_id: string, person: FakePerson): FakeIdentity {
  const known = identityOf(records, person);
  if (known && known.user_id !== user_id) throw new FakeRefusal(409, 'ERR-IDENTITY-IN-USE');
  if (known) return known;
  const { provider, sub, email = null } = person;
  const facts = { identity_id: records.newId(), created_at: records.now().toISOString() };
  const identity = { user_id, provider, sub, email, ...facts };
  records.identities.push(identity);
  endTrust(records, user_id);
  return identity;
}

/** Creates the operations on the caller's identities. */
export function identitiesOf({ records }: FakeOperationsDeps): Operations {
  const timestamp = () => records.now().toISOString();
  const shown = ({ user_id: _, sub: __, ...facts }: FakeIdentity) => ({ ...facts, relay_off: false, disabled: false });
  return {
    listIdentities({ session: { user_id } }) {
      const own = records.identities.filter((one) => one.user_id === user_id);
      return { identities: own.map(shown), timestamp: timestamp() };
    },
    linkIdentity({ params: { identity: provider = '' }, body, session }) {
      const { challenge_id, id_token, ...fresh } = body as Body<'linkIdentity'>;
      const person = personOf(provider, id_token);
      const known = identityOf(records, person);
      if (known && known.user_id !== session.user_id) throw new FakeRefusal(409, 'ERR-IDENTITY-IN-USE');
      if (!known) {
        assertFresh(records, session, fresh, 'identities');
        spend(records, challenge_id, id_token);
      }
      return { ...shown(addIdentity(records, session.user_id, person)), timestamp: timestamp() };
    },
    unlinkIdentity({ params: { identity: identity_id = '' }, body, session }) {
      assertFresh(records, session, body, 'identities');
      const { user_id } = session;
      const at = records.identities.findIndex((one) => one.user_id === user_id && one.identity_id === identity_id);
      if (at < 0) throw new FakeRefusal(404, 'ERR-IDENTITY-NOT-FOUND');
      assertNotLast(records, user_id);
      records.identities.splice(at, 1);
      endTrust(records, user_id);
      return { message: 'IDENTITY_UNLINKED', identity_id, timestamp: timestamp() };
    },
  };
}

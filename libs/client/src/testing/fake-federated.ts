import type { Body, Data } from '../calls/call.ts';
import type { OperationName } from '../generated/operations.ts';
import { isRecord, parseJson } from '../http/exchange.ts';
import { base64url, textOfBase64url } from '../platform/base64url.ts';
import { checkCode, createOpenByCode, mailCode } from './fake-codes.ts';
import {
  assertChallenge,
  createOpenSession,
  type FakeOperation,
  type FakeOperationsDeps,
  FakeRefusal,
  newChallenge,
  openedBefore,
  tokensOf,
} from './fake-logins.ts';
import {
  addUser,
  type FakeIdentity,
  type FakeLink,
  type FakeLogin,
  type FakePerson,
  type FakeRecords,
  type FakeUser,
  userByEmail,
} from './fake-records.ts';
import {
  assertNotLast,
  assertReauthenticated,
  challengeEnd,
  demandSecondFactor,
  endTrust,
} from './fake-sign-in-methods.ts';

type Operations = Partial<Record<OperationName, FakeOperation>>;

/** A person, as a provider's token names them. `email_verified`: the provider gives the email address out itself. */
interface NamedPerson {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

/** Returns the ID token of a person, as a provider would sign it. The fake service knows every provider. */
export function fakeIdToken(person: NamedPerson): string {
  const bytes = new TextEncoder().encode(JSON.stringify(person));
  return `fake.${base64url(bytes)}.token`;
}

/** Reads a token. A wrong one is refused with the status: a 401 would make an app with a session refresh. */
function personOf(provider: string, token: string, status: 401 | 422): FakePerson {
  const claims = parseJson(textOfBase64url(token.split('.')[1] ?? ''));
  if (!isRecord(claims) || typeof claims.sub !== 'string') throw new FakeRefusal(status, 'ERR-IDENTITY-TOKEN-INVALID');
  const { sub, email, email_verified = false, name } = claims as unknown as NamedPerson;
  return { provider, sub, email, email_verified, name };
}

const identityOf = ({ identities }: FakeRecords, { provider, sub }: FakePerson) =>
  identities.find((one) => one.provider === provider && one.sub === sub);

/** Creates the logins by providers. */
export function federatedLoginsOf(deps: FakeOperationsDeps): Operations {
  const { records, pushUrl } = deps;
  const openSession = createOpenSession(deps);
  return {
    createFederatedChallenge: ({ example }) => ({
      ...{ ...example, challenge_id: newChallenge(records), nonce: records.newId(), expires_at: challengeEnd(records) },
      timestamp: records.now().toISOString(),
    }),
    logInByProvider({ params: { provider = '' }, body, key, reply }) {
      const { challenge_id, id_token, trusted_device_token: token, ...rest } = body as Body<'logInByProvider'>;
      assertChallenge(records, challenge_id);
      const challengeUse = { id: challenge_id, proof: JSON.stringify([id_token, rest.device_id, key]) };
      const before = openedBefore(records, challengeUse);
      if (before) return tokensOf(records, pushUrl, before);
      const person = personOf(provider, id_token, 401);
      const known = identityOf(records, person)?.user_id;
      const user_id = known ?? registered(records, person, challenge_id, rest);
      if (known === undefined) reply.status = 201;
      const login = { user_id, device: rest, challengeUses: [challengeUse], ...(key && { key }) };
      demandSecondFactor(records, login, token);
      return openSession(login);
    },
    ...linksOf(deps),
  };
}

/** Links identities to the accounts of their email addresses. */
function linksOf(deps: FakeOperationsDeps): Operations {
  const { records, pushUrl } = deps;
  const { users, passkeys } = records;
  const openSession = createOpenSession(deps);
  const openByCode = createOpenByCode(deps);

  function linkFor(id: string): FakeLink {
    const link = records.links.get(id);
    if (link === undefined) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
    return link;
  }

  function open({ user_id }: FakeLink, input: Body<'linkByProof'>, login: FakeLogin): Data<'logIn'> {
    const { link_challenge_id, password, credential, challenge_id = '', code = '' } = input;
    if (password !== undefined) demandSecondFactor(records, login, undefined);
    else if (credential !== undefined) {
      if (passkeys.get(credential.id)?.user_id !== user_id) throw new FakeRefusal(403, 'ERR-PASSKEY-INVALID');
    } else return openByCode(checkCode(records, link_challenge_id, challenge_id, code), login);
    return openSession(login);
  }

  return {
    requestLinkCode({ body, example }) {
      const { link_challenge_id } = body as Body<'requestLinkCode'>;
      const user = users.get(linkFor(link_challenge_id).user_id) as FakeUser;
      return { ...example, challenge_id: mailCode(records, link_challenge_id, user.email), resend_at: null };
    },
    linkByProof({ body, key }) {
      const input = body as Body<'linkByProof'>;
      const { link_challenge_id, password, credential, code, challenge_id, ...device } = input;
      const link = linkFor(link_challenge_id);
      const { user_id, person } = link;
      // The service looks at the password first, of a repeat too.
      const isRight = password === undefined || (password !== '' && users.get(user_id)?.password === password);
      if (!isRight) throw new FakeRefusal(401, 'ERR-INVALID-CREDENTIALS');
      const challengeUse = {
        id: link.provider_challenge_id,
        proof: JSON.stringify([password, credential, challenge_id, code, device.device_id, key]),
      };
      const before = openedBefore(records, challengeUse);
      if (before) return tokensOf(records, pushUrl, before);
      const login = { user_id, device, person, challengeUses: [challengeUse], ...(key && { key }) };
      const data = open(link, input, login);
      addIdentity(records, user_id, person);
      return data;
    },
  };
}

/** Registers a person whom no account has. Refuses it without a mode, and if an account has the email address. */
function registered(
  records: FakeRecords,
  person: FakePerson,
  provider_challenge_id: string,
  input: Pick<Body<'logInByProvider'>, 'space_creation_mode' | 'display_name'>,
): string {
  const { links, newId } = records;
  const { email, email_verified, name } = person;
  if (email === undefined) throw new FakeRefusal(403, 'ERR-IDENTITY-ADDRESS-REQUIRED');
  const holder = userByEmail(records, email);
  if (holder) {
    const link_challenge_id = newId();
    links.set(link_challenge_id, { user_id: holder.user_id, person, provider_challenge_id });
    const options = { challenge: link_challenge_id, timeout: 600_000, rpId: 'auth.test', userVerification: 'required' };
    const signInMethods = { methods: ['password', 'passkey', 'email_code'], passkey_options: options };
    const details = { link_challenge_id, ...signInMethods, expires_at: challengeEnd(records) };
    throw new FakeRefusal(409, 'ERR-ACCOUNT-LINK-REQUIRED', details);
  }
  const { space_creation_mode: mode, display_name = name ?? null } = input;
  if (mode === undefined)
    throw new FakeRefusal(403, 'ERR-REGISTRATION-REQUIRED', { email, ...(name && { display_name: name }) });
  const account_type = mode === 'CREATE_NEW_OFFICE' ? 'OFFICE' : 'HOME';
  const { user_id } = addUser(records, { email, email_verified, display_name, account_type });
  addIdentity(records, user_id, person);
  return user_id;
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
      assertChallenge(records, challenge_id);
      const person = personOf(provider, id_token, 422);
      const known = identityOf(records, person);
      if (known && known.user_id !== session.user_id) throw new FakeRefusal(409, 'ERR-IDENTITY-IN-USE');
      if (!known) {
        assertReauthenticated(records, session, fresh, 'identities');
        if (records.consumed.has(challenge_id)) throw new FakeRefusal(410, 'ERR-CODE-EXPIRED');
        records.consumed.set(challenge_id, { proof: 'link', session });
      }
      return { ...shown(addIdentity(records, session.user_id, person)), timestamp: timestamp() };
    },
    unlinkIdentity({ params: { identity: identity_id = '' }, body, session }) {
      assertReauthenticated(records, session, body, 'identities');
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

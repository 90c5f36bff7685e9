import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Route, type RouteName, routes } from '@auth-account/contracts';
import { openApiPath } from '@auth-account/contracts/openapi';
import { failFastOptions, openRedis, redisKeys } from '@auth-account/redis';
import type { IdentityDocument, UserDocument } from '@auth-account/stores/documents';
import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { limitedRoutes } from '../../services/api/src/limits/limited-routes.ts';
import { requestLimits } from '../../services/api/src/limits/limits-table.ts';
import {
  type Account,
  logOut,
  newEmail,
  newSession,
  password,
  registerAccount,
  type TokenPair,
} from '../support/api/accounts.ts';
import { bearer } from '../support/api/api-driver.ts';
import { createAuthenticator } from '../support/api/authenticator.ts';
import {
  changeEmail,
  codeOf,
  expire,
  logInByCode,
  requestChange,
  requestLoginCode,
  wrongCodeOf,
} from '../support/api/codes.ts';
import { type GoodRequest, goodRequests, requestFor, sendTo } from '../support/api/good-requests.ts';
import { insertInvite, joinByInvite, leave, refresh } from '../support/api/groups.ts';
import { openApiChecker } from '../support/api/openapi-checker.ts';
import {
  addPasskey,
  appOrigin,
  deletePasskey,
  logInByPasskey,
  requestPasskey,
  revokePassword,
  stepUpByPasskey,
  withoutPasskeys,
} from '../support/api/passkeys.ts';
import {
  demandLink,
  linkByProof,
  linkIdentity,
  logInByProvider,
  newHome,
  newPerson,
  provePerson,
  unlinkIdentity,
} from '../support/api/providers.ts';
import {
  beginLogin,
  codeAt,
  completeLogin,
  guardedAccount,
  orderRemoval,
  stepUpBy,
} from '../support/api/second-factor.ts';
import { challengeStepUp, confirmStepUp } from '../support/api/step-up.ts';
import { startTestApi, type TestApi } from '../support/api/test-api.ts';
import { type Answer, send } from '../support/http-client.ts';
import type { Environment } from '../support/service-environment.ts';
import { createStoppableClock } from '../support/stoppable-clock.ts';
import { startHoldingProxy } from '../support/stores/holding-proxy.ts';
import { testEnvironment, uniqueName } from '../support/test-environment.ts';

const checker = openApiChecker(JSON.parse(await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8')));

const clock = createStoppableClock();
let api: TestApi;
/** An api whose store has become unreachable since it started. */
let severed: TestApi;
/** An api in which no password hash starts in time, and which allows an account or session one request of each kind. */
let narrow: TestApi;
/** An api that allows each network one request of each kind. */
let strict: TestApi;
/** An api without a feed of revocations, passkeys, providers and logins by a code. */
let closed: TestApi;
/** An api that requires verified email addresses. */
let wary: TestApi;

type Limited = (typeof requestLimits)[keyof typeof requestLimits]['per'];

/** Returns settings by which each limit on requests of these allows one. */
function limitedToOne(...per: readonly Limited[]) {
  const limits = Object.values(requestLimits).filter((limit) => per.includes(limit.per));
  return Object.fromEntries(limits.map(({ setting }) => [setting, '1']));
}

beforeAll(async () => {
  api = await startTestApi({}, { now: clock.now });
  // All have one database, so an account of the first is known to each. Each has limits and a deny list of its own.
  const beside = (env: Environment) => api.beside({ KEY_PREFIX: uniqueName(), ...env });
  const proxy = await startHoldingProxy(Number(new URL(testEnvironment().mongodbUri).port));
  const byProxy = `mongodb://127.0.0.1:${proxy.port}/?directConnection=true&serverSelectionTimeoutMS=300`;
  [severed, narrow, strict, wary, closed] = await Promise.all([
    beside({ MONGODB_URI: byProxy }),
    beside({
      HASH_QUEUE_TIMEOUT_MS: '1',
      ...limitedToOne('account', 'session', 'internal service'),
    }),
    beside({ ...limitedToOne('network') }),
    beside({ REQUIRE_VERIFIED_EMAIL: 'true' }),
    beside({
      REVOCATION_FEED_SECRETS_FILE: '',
      EMAIL_CODE_LOGIN: 'false',
      IDENTITY_PROVIDERS: '',
      ...withoutPasskeys,
    }),
  ]);
  await proxy.close();
});
afterAll(async () => {
  await api.close();
});

type Routes = typeof routes;
/** Routes that declare errors. */
type Operation = { [N in RouteName]: Routes[N]['errors'] extends readonly [] ? never : N }[RouteName];
const operations = (Object.keys(routes) as RouteName[]).filter(
  (name): name is Operation => routes[name].errors.length > 0,
);
type CodeOf<N extends Operation> = Routes[N]['errors'][number];
/** Sends a request that provokes an error code, and returns the answer. */
type Provocation = () => Promise<Answer>;

async function sendGood(name: Operation, on = api, change: GoodRequest = {}): Promise<Answer> {
  return sendChanged(name, await goodRequests[name](api), change, on);
}

function sendChanged(name: Operation, good: GoodRequest, change: GoodRequest, on = api): Promise<Answer> {
  return sendTo(name, on, { ...good, ...change, headers: { ...good.headers, ...change.headers } });
}

/** Makes the value at the first call, for all calls. */
function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const unused = new Map<Operation, Promise<GoodRequest>>();

/** Returns the operation's request for all provocations in which the request has no effect. */
function unusedGood(name: Operation): Promise<GoodRequest> {
  const good = unused.get(name) ?? goodRequests[name](api);
  unused.set(name, good);
  return good;
}

/** Sends a request that is refused and has no effect. */
const sendUnused = async (name: Operation, change: GoodRequest = {}, on = api) =>
  sendChanged(name, await unusedGood(name), change, on);

/** Each answer takes as long as the driver's server selection, so the first call sends all operations at once. */
const answersWithoutStore = lazily(async () => {
  const severedOnes = operations.filter((name) => isDeclared(name, 'ERR-DEPENDENCY-UNAVAILABLE'));
  for (const name of severedOnes) await unusedGood(name);
  return new Map(
    await Promise.all(severedOnes.map(async (name) => [name, await sendUnused(name, {}, severed)] as const)),
  );
});

async function answerWithoutStore(name: Operation): Promise<Answer> {
  return (await answersWithoutStore()).get(name) ?? sendUnused(name, {}, severed);
}

/** For each code that most of its operations answer for the same reason: a function that provokes the code. */
const sharedProvocations = {
  async PMA_TRACE_ID_MISSING(name) {
    const { headers, ...request } = requestFor(name, await unusedGood(name));
    return send(api.base, { ...request, headers: { 'Content-Type': 'application/json', ...headers } });
  },
  'ERR-VALIDATION-FAILED'(name) {
    const { body } = routes[name] as Route;
    const [field] = Object.keys((body as { readonly properties?: object } | undefined)?.properties ?? {});
    return sendUnused(name, field === undefined ? { headers: { 'X-Request-ID': 'a b' } } : { body: { [field]: 0 } });
  },
  'ERR-UNSUPPORTED-MEDIA-TYPE': (name) => sendUnused(name, { headers: { 'Content-Type': 'text/plain' } }),
  'ERR-PAYLOAD-TOO-LARGE': (name) => sendUnused(name, { body: { filler: 'x'.repeat(16 * 1024) } }),
  'ERR-DEPENDENCY-UNAVAILABLE': (name) => answerWithoutStore(name),
  IAD_JWT_ACCESS_INVALID: (name) => sendUnused(name, { headers: { Authorization: 'Bearer none' } }),
  IAD_JWT_ACCESS_EXPIRED: async (name) =>
    sendUnused(name, { headers: bearer({ access_token: await expiredAccessToken() }) }),
  'ERR-GROUP-OWNER-REQUIRED': async (name) => sendUnused(name, { headers: bearer(await memberOnly()) }),
  'ERR-INTERNAL': (name) => refusedWrite(name),
  'ERR-RATE-LIMITED'(name) {
    if (name.startsWith('resend')) return sendTwice(name);
    return isDeclared(name, 'ERR-REAUTHENTICATION-FAILED') ? pastTheGuesses(name) : pastTheLimit(name);
  },
  'ERR-OVERLOADED': (name) => overload(name),
  'ERR-ROUTE-NOT-FOUND': (name) => sendUnused(name, {}, closed),
  'ERR-REAUTHENTICATION-FAILED': (name) => sendUnused(name, { body: wrong }),
  'ERR-STEP-UP-REQUIRED': (name) => sendUnused(name, { body: { ...wrong, step_up_token: 'none' } }),
  'ERR-LOGOUT-TARGET-NOT-FOUND': (name) => ofNothing(name),
  'ERR-PASSKEY-NOT-FOUND': (name) => ofNothing(name),
  'ERR-IDENTITY-NOT-FOUND': (name) => ofNothing(name),
  'ERR-GROUP-MEMBER-NOT-FOUND': (name) => ofNothing(name),
  'ERR-INVITE-TOKEN-INVALID': (name) => ofNothing(name),
  'ERR-CODE-INVALID': (name) => ofUnknownChallenge(name),
  'ERR-CODE-EXPIRED': (name) => ofExpiredChallenge(name),
} satisfies Record<string, (name: Operation) => Promise<Answer>>;

/** Returns the answer while no collection takes a write, as after a fault in the schema. */
async function refusedWrite(name: Operation, change: GoodRequest = {}): Promise<Answer> {
  const good = { ...(await unusedGood(name)), ...change };
  const db = api.mongo.db(api.database);
  const refuse = (validator: object) =>
    Promise.all(
      Object.values(api.collections).map(({ collectionName }) => db.command({ collMod: collectionName, validator })),
    );
  await refuse({ never: { $exists: true } });
  try {
    return await sendTo(name, api, good);
  } finally {
    await refuse({});
  }
}

/** Returns the answer to a request whose hash does not start in time. One may be fast enough, so there are more. */
async function overload(name: Operation): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await sendUnused(name, {}, narrow);
    if (answer.status === 503 || tries === 20) return answer;
    unused.delete(name);
  }
}

const wrong = {
  current_password: 'wrong password',
  new_password: 'three wrong staples',
  new_email: 'chef@example.com',
};

/** Sends wrong passwords until the limit of tries is passed. */
async function pastTheGuesses(name: Operation, body: GoodRequest['body'] = wrong): Promise<Answer> {
  const good = await goodRequests[name](api);
  const guess = () => sendTo(name, api, { ...good, body: { ...good.body, ...body } });
  return clock.stopped(async () => {
    for (let i = 0; i < 5; i += 1) await guess();
    return guess();
  });
}

/** Sends a good step-up with another body. */
async function stepUpWith(fields: object): Promise<Answer> {
  const good = await goodRequests.confirmStepUp(api);
  return sendTo('confirmStepUp', api, { ...good, body: { ...good.body, ...fields } });
}

/** Asks for a step-up while the code that it needs cannot be stored. */
async function revokedChallenge(): Promise<Answer> {
  const session = await newSession(api);
  await api.collections.users.updateOne({ _id: session.user_id }, { $set: { is_password_void: true } });
  return refusedWrite('createStepUpChallenge', { headers: bearer(session) });
}

/** Sends a wrong code for a step-up of an account whose password is unusable. */
async function stepUpByMail(on: TestApi): Promise<Answer> {
  const session = await newSession(on);
  const headers = bearer(session);
  await on.collections.users.updateOne({ _id: session.user_id }, { $set: { is_password_void: true } });
  const challenge = await sendTo('createStepUpChallenge', on, { headers, body: { purpose: 'session' } });
  const { challenge_id } = challenge.json.data;
  const open = await on.collections.challenges.findOne({ user_id: session.user_id });
  const code = await wrongCodeOf(on, String(open?._id));
  return sendTo('confirmStepUp', on, { headers, body: { challenge_id, method: 'email_code', code } });
}

/** Sends the good request until the operation's first limit, at which one is allowed, is passed. */
async function pastTheLimit(name: Operation): Promise<Answer> {
  const limit = limitedRoutes[name][0]?.replace('?', '') as keyof typeof requestLimits;
  if (limit === 'write') return pastTheWrite(name);
  const on = requestLimits[limit].per === 'network' ? strict : narrow;
  const good = await unusedGood(name);
  unused.delete(name);
  const first = await sendTo(name, on, good);
  // Another operation may have used the limit up.
  return first.status === 429 ? first : sendTo(name, on, good);
}

/** Returns the answer to the second move of a user who has gone home. */
async function pastTheMove(
  name: 'acceptInvite' | 'leaveGroup' | 'removeMember',
  requestOf: (userId: string) => Omit<GoodRequest, 'headers'>,
): Promise<Answer> {
  const mover = await newSession(api);
  await leave(narrow, mover);
  const { access_token } = await refresh(api, mover);
  return sendTo(name, narrow, { ...requestOf(mover.user_id), headers: bearer({ access_token }) });
}

/** Sends a write, and then the operation in the same session. */
async function pastTheWrite(name: Operation): Promise<Answer> {
  const headers = bearer(await newSession(api));
  await sendTo('changeAccount', narrow, { headers, body: { locale: 'ru' } });
  return sendUnused(name, { headers }, narrow);
}

/** Requests more codes than an account may have in a day. */
async function pastTheCodes(): Promise<Answer> {
  const good = await goodRequests.requestEmailVerification(api);
  for (let i = 0; i < 5; i += 1) await sendTo('requestEmailVerification', api, good);
  return sendTo('requestEmailVerification', api, good);
}

/** Changes to an email address that somebody else has registered since the code was sent. */
async function changeToTaken(): Promise<Answer> {
  const session = await newSession(api);
  const new_email = newEmail();
  const challenge_id = await requestChange(api, session, new_email);
  const code = await codeOf(api, challenge_id);
  await registerAccount(api, new_email);
  return sendTo('confirmEmailChange', api, { headers: bearer(session), body: { challenge_id, code } });
}

/** Sends the same request twice. */
async function sendTwice(name: Operation): Promise<Answer> {
  const good = await goodRequests[name](api);
  await sendTo(name, api, good);
  return sendTo(name, api, good);
}

/** Sends a request whose path names nothing that exists. */
async function ofNothing(name: Operation): Promise<Answer> {
  const { params = {} } = await unusedGood(name);
  return sendUnused(name, { params: Object.fromEntries(Object.keys(params).map((key) => [key, crypto.randomUUID()])) });
}

async function ofUnknownChallenge(name: Operation): Promise<Answer> {
  const { body } = await unusedGood(name);
  return sendUnused(name, { body: { ...body, challenge_id: crypto.randomUUID() } });
}

async function ofExpiredChallenge(name: Operation): Promise<Answer> {
  const good = await goodRequests[name](api);
  await expire(api, String(good.body?.challenge_id));
  return sendTo(name, api, good);
}

/** Confirms an authenticator app with other values. */
async function confirmTotpBy(change: Readonly<Record<string, string>>): Promise<Answer> {
  const good = await goodRequests.confirmTotp(api);
  return sendTo('confirmTotp', api, { ...good, body: { ...good.body, ...change } });
}

/** Steps up by a code that was used. */
async function stepUpByUsedCode(): Promise<Answer> {
  const guarded = await guardedAccount(api);
  const challenge_id = await challengeStepUp(api, guarded, 'export');
  return confirmStepUp(api, guarded, challenge_id, { method: 'totp', code: guarded.code });
}

/** Changes a second factor that is on while the users' collection refuses every write. */
async function refusedOfFactor(name: 'deleteTotp' | 'createRecoveryCodes', purpose: string): Promise<Answer> {
  const guarded = await guardedAccount(api);
  const step_up_token = await stepUpBy(api, guarded, purpose, codeAt(guarded.secret, Date.now(), 1));
  return refusedWrite(name, { headers: bearer(guarded), body: { step_up_token } });
}

/** Returns the credential of a passkey that another account has. */
async function foreignPasskey(): Promise<unknown> {
  return (await goodRequests.logInByPasskey(api)).body?.credential;
}

/** Completes a login with other values. */
async function completeLoginBy(change: Readonly<Record<string, unknown>>): Promise<Answer> {
  const good = await goodRequests.confirmSecondFactor(api);
  return sendTo('confirmSecondFactor', api, { body: { ...good.body, ...change } });
}

/** Completes the login to an account whose document got these fields after the password was right. */
async function completeLoginTo(set: Partial<UserDocument>): Promise<Answer> {
  const { email, user_id, secret } = await guardedAccount(api);
  const challenge_id = await beginLogin(api, email);
  await api.collections.users.updateOne({ _id: user_id }, { $set: set });
  return completeLogin(api, challenge_id, { code: codeAt(secret, Date.now(), 1) });
}

/** Logs in by a code, to an account whose document got these fields after the code was sent. */
async function logInByCodeTo({ email }: Pick<Account, 'email'>, set: Partial<UserDocument>): Promise<Answer> {
  const challenge_id = await requestLoginCode(api, email);
  await api.collections.users.updateOne({ email }, { $set: set });
  return logInByCode(api, challenge_id);
}

/** Ends the trust in a device while the users' collection refuses every write. */
async function refusedTrust(): Promise<Answer> {
  const session = await newSession(api);
  const device = { device_id: session.device_id, token: '', version: '', trusted_at: new Date(), until: new Date() };
  await api.collections.users.updateOne({ _id: session.user_id }, { $set: { trusted_devices: [device] } });
  const request = { headers: bearer(session), params: { device_id: session.device_id } };
  return refusedWrite('deleteTrustedDevice', request);
}

/** Tries more wrong codes than an account may in a quarter of an hour. */
async function pastTheFactorTries(): Promise<Answer> {
  const good = await goodRequests.confirmTotp(api);
  const guess = () => sendTo('confirmTotp', api, { ...good, body: { ...good.body, code: '000000' } });
  for (let i = 0; i < 5; i += 1) await guess();
  return guess();
}

async function revokedToken(): Promise<string> {
  const session = await newSession(api);
  await logOut(api, session);
  return session.refresh_token;
}

const expiredAccessToken = lazily(async (): Promise<string> => {
  const keys = await loadKeyFile(join(testEnvironment().keysDir, 'access-token-keys.json'));
  const settings = { keys, issuer: 'https://auth.local', audience: 'food-storage' } as const;
  const sign = createAccessTokenSigner({ ...settings, ttlSeconds: 600, now: () => Date.now() - 9_999_000 });
  const { user_id, home_group_id, session_id, device_id } = await newSession(api);
  return sign({ user_id, home_group_id, account_type: 'HOME', sid: session_id, ver: 1, device_id });
});

async function expiredInvite(): Promise<string> {
  const { home_group_id } = await registerAccount(api);
  return insertInvite(api, home_group_id, { expires_at: new Date(Date.now() - 1_000) });
}

/** Stores an invite that cannot be returned, because it has no time of expiry. */
async function brokenInvite(home_group_id: string): Promise<string> {
  const token = await insertInvite(api, home_group_id, { revoked_at: new Date() });
  await api.collections.invites.updateOne({ _id: token }, { $unset: { expires_at: true } } as const);
  return token;
}

/** Puts an entry without a version into the deny list. */
async function denyWithoutVersion(keyPrefix: string): Promise<void> {
  const keys = redisKeys(keyPrefix);
  const redis = openRedis(
    { REDIS_URL: testEnvironment().redisUrl },
    { ...failFastOptions(), enableOfflineQueue: true },
  );
  await redis.set(keys.denied('broken'), 'nonsense');
  await redis.zadd(keys.revocations, Date.now(), 'broken');
  redis.disconnect();
}

/** Returns a user who does not own the group. */
const memberOnly = lazily(async (): Promise<TokenPair> => {
  const { home_group_id } = await registerAccount(api);
  return joinByInvite(api, await insertInvite(api, home_group_id));
});

const inAnHour = () => new Date(Date.now() + 3_600_000);

/** Logs in to an account whose document has these fields. */
async function logInTo(set: Partial<UserDocument>): Promise<Answer> {
  const { email, user_id } = await registerAccount(api);
  await api.collections.users.updateOne({ _id: user_id }, { $set: set });
  return sendTo('logIn', api, { body: { email, password } });
}

/** Logs in by passkey to an account whose document has these fields. */
async function logInByPasskeyTo(set: Partial<UserDocument>): Promise<Answer> {
  const session = await newSession(api);
  const { authenticator } = await addPasskey(api, session);
  await api.collections.users.updateOne({ _id: session.user_id }, { $set: set });
  return logInByPasskey(api, authenticator);
}

/** Logs in by a provider, to an account whose document got these fields. */
async function logInByProviderTo(set: Partial<UserDocument> | Record<string, Date>): Promise<Answer> {
  const person = newPerson();
  const { json } = await logInByProvider(api, person, newHome);
  await api.collections.users.updateOne({ _id: json.data.user_id }, { $set: set });
  return logInByProvider(api, person);
}

/** Links an identity to an account whose document got these fields after the link was demanded. */
async function linkTo(set: Partial<UserDocument>, proof: object = { password }): Promise<Answer> {
  const { email, user_id } = await registerAccount(api);
  const { link_challenge_id } = await demandLink(api, newPerson({ email }));
  await api.collections.users.updateOne({ _id: user_id }, { $set: { ...set, display_name: 'Anna' } });
  return linkByProof(api, link_challenge_id, proof);
}

/** Completes a link by the second factor, after the account or the identity has changed. */
async function completeLink(change: (person: object, userId: string) => Promise<unknown>): Promise<Answer> {
  const { email, user_id, secret } = await guardedAccount(api);
  const person = newPerson({ email });
  const { json } = await linkByProof(api, (await demandLink(api, person)).link_challenge_id, { password });
  await change(person, user_id);
  return completeLogin(api, json.details.challenge_id, { code: codeAt(secret, Date.now(), 1) });
}

/** As many identities as an account may have. */
function manyIdentities(): IdentityDocument[] {
  const created_at = new Date();
  return Array.from({ length: 10 }, () => {
    const id = crypto.randomUUID();
    return { id, sub: id, provider: 'other', created_at };
  });
}

/** Lists the identities of an account whose only identity lacks most fields. */
async function ofBrokenIdentity(): Promise<Answer> {
  const session = await newSession(api);
  const identities = [{ sub: session.user_id }] as never;
  await api.collections.users.updateOne({ _id: session.user_id }, { $set: { identities } });
  return sendTo('listIdentities', api, { headers: bearer(session) });
}

/** Returns a step-up token by the password. */
async function stepUpByPassword(session: TokenPair, purpose: string): Promise<string> {
  const challenge_id = await challengeStepUp(api, session, purpose);
  return (await confirmStepUp(api, session, challenge_id, { method: 'password', password })).json.data.step_up_token;
}

/** Sends the operation for an account whose only passkey lacks most fields. */
async function ofBrokenPasskey(name: 'createPasskeyChallenge' | 'listPasskeys'): Promise<Answer> {
  const session = await newSession(api);
  const passkeys = [{ credential_id: session.user_id }] as never;
  await api.collections.users.updateOne({ _id: session.user_id }, { $set: { passkeys } });
  return sendTo(name, api, { headers: bearer(session), body: { current_password: password } });
}

/** Begins to add a passkey to an account that has 20, or confirms one that was begun before. */
async function aboveTwenty(name: 'createPasskeyChallenge' | 'createPasskey'): Promise<Answer> {
  const session = await newSession(api);
  const { challenge_id, options } = await requestPasskey(api, session);
  const passkeys = Array.from({ length: 20 }, (_, at) => ({
    credential_id: `${session.user_id}-${at}`,
    transports: [],
  }));
  await api.collections.users.updateOne({ _id: session.user_id }, { $set: { passkeys: passkeys as never } });
  const credential = createAuthenticator({ origin: appOrigin }).create(options);
  return sendTo(name, api, {
    headers: bearer(session),
    body: { current_password: password, challenge_id, credential },
  });
}

const joinBy = (invite_token: string) =>
  sendGood('registerAccount', api, {
    body: { email: newEmail(), password, space_creation_mode: 'JOIN_EXISTING', invite_token },
  });

/**
 * For each operation, what provokes its codes otherwise than {@link sharedProvocations} does. A code with several
 * statuses has an entry for each status.
 */
const ownProvocations: {
  readonly [N in Operation]?: {
    readonly [C in CodeOf<N>]?: Provocation | Readonly<Record<number, Provocation>>;
  };
} = {
  registerAccount: {
    async 'ERR-EMAIL-ALREADY-EXISTS'() {
      const { email } = await registerAccount(api);
      return sendGood('registerAccount', api, { body: { email, password, space_creation_mode: 'CREATE_NEW_HOME' } });
    },
    async 'ERR-IDEMPOTENCY-KEY-REUSED'() {
      const { body } = await goodRequests.registerAccount(api);
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      await sendTo('registerAccount', api, { body: { ...body }, headers });
      return sendTo('registerAccount', api, { body: { ...body, password: 'another password' }, headers });
    },
    'ERR-INVITE-TOKEN-INVALID': {
      404: () => joinBy('nothing'),
      410: async () => joinBy(await expiredInvite()),
    },
  },
  findAccount: {
    async 'ERR-INTERNAL'() {
      const session = await newSession(api);
      await api.collections.users.updateOne({ _id: session.user_id }, { $unset: { created_at: true } } as const);
      return sendTo('findAccount', api, { headers: bearer(session) });
    },
  },
  restoreAccount: {
    'ERR-INVALID-CREDENTIALS': () => sendUnused('restoreAccount', { body: { email: newEmail(), password } }),
    async 'ERR-ACCOUNT-DISABLED'() {
      const good = await goodRequests.restoreAccount(api);
      await api.collections.users.updateOne({ email: String(good.body?.email) }, { $set: { disabled_at: new Date() } });
      return sendTo('restoreAccount', api, good);
    },
  },
  exportAccount: {
    async 'ERR-INTERNAL'() {
      const session = await newSession(api);
      const broken = { $unset: { created_at: true } } as const;
      await api.collections.sessions.updateOne({ _id: session.session_id }, broken);
      return sendTo('exportAccount', api, { body: { current_password: password }, headers: bearer(session) });
    },
  },
  logInByCode: {
    'ERR-ACCOUNT-DISABLED': async () => logInByCodeTo(await registerAccount(api), { disabled_at: new Date() }),
    'ERR-ACCOUNT-DELETION-SCHEDULED': async () => logInByCodeTo(await registerAccount(api), { deletes_at: inAnHour() }),
    'ERR-SECOND-FACTOR-REQUIRED': async () =>
      logInByCodeTo(await guardedAccount(api), { email_verified_at: new Date() }),
  },
  requestEmailVerification: {
    'ERR-RATE-LIMITED': pastTheCodes,
  },
  confirmEmailChange: {
    'ERR-EMAIL-ALREADY-EXISTS': changeToTaken,
  },
  undoEmailChange: {
    'ERR-CODE-INVALID': () => sendUnused('undoEmailChange', { body: { undo_token: 'none of ours' } }),
    async 'ERR-CODE-EXPIRED'() {
      const good = await goodRequests.undoEmailChange(api);
      const lapsed = { $set: { 'former_emails.$[].until': new Date() } };
      await api.collections.users.updateMany({ former_emails: { $exists: true } }, lapsed);
      return sendTo('undoEmailChange', api, good);
    },
  },
  stopSecondFactorRemoval: {
    'ERR-CODE-INVALID': () => sendUnused('stopSecondFactorRemoval', { body: { stop_token: 'none of ours' } }),
    async 'ERR-CODE-EXPIRED'() {
      const good = await goodRequests.stopSecondFactorRemoval(api);
      const due = { $set: { 'totp.removal.due_at': new Date() } };
      await api.collections.users.updateMany({ 'totp.removal': { $exists: true } }, due);
      return sendTo('stopSecondFactorRemoval', api, good);
    },
  },
  deleteSecondFactorRemoval: {
    async 'ERR-INTERNAL'() {
      const session = await guardedAccount(api);
      await orderRemoval(api, session.email);
      return refusedWrite('deleteSecondFactorRemoval', { headers: bearer(session) });
    },
    async 'ERR-CODE-EXPIRED'() {
      const session = await guardedAccount(api);
      await orderRemoval(api, session.email);
      const due = { $set: { 'totp.removal.due_at': new Date() } };
      await api.collections.users.updateOne({ _id: session.user_id }, due);
      return sendTo('deleteSecondFactorRemoval', api, { headers: bearer(session) });
    },
  },
  logIn: {
    async 'ERR-SECOND-FACTOR-REQUIRED'() {
      const { email } = await guardedAccount(api);
      return sendTo('logIn', api, { body: { email, password } });
    },
    async 'ERR-EMAIL-NOT-VERIFIED'() {
      const { email } = await registerAccount(api);
      return sendTo('logIn', wary, { body: { email, password } });
    },
    'ERR-INVALID-CREDENTIALS': () => sendUnused('logIn', { body: { email: newEmail(), password } }),
    'ERR-ACCOUNT-DISABLED': () => logInTo({ disabled_at: new Date() }),
    'ERR-ACCOUNT-DELETION-SCHEDULED': () => logInTo({ deletes_at: inAnHour() }),
    async 'ERR-IDEMPOTENCY-KEY-REUSED'() {
      const { email } = await registerAccount(api);
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      await sendTo('logIn', api, { body: { email, password }, headers });
      return sendTo('logIn', api, { body: { email, password, device_name: 'Pixel 9' }, headers });
    },
  },
  findFactors: {
    async 'ERR-INTERNAL'() {
      const session = await newSession(api);
      const broken = { totp: { confirmed_at: 'never' } } as unknown as Partial<UserDocument>;
      await api.collections.users.updateOne({ _id: session.user_id }, { $set: broken });
      return sendTo('findFactors', api, { headers: bearer(session) });
    },
  },
  confirmTotp: {
    'ERR-INTERNAL': async () => refusedWrite('confirmTotp', await goodRequests.confirmTotp(api)),
    'ERR-SECOND-FACTOR-INVALID': () => confirmTotpBy({ code: '000000' }),
    'ERR-CODE-EXPIRED': () => confirmTotpBy({ factor_id: crypto.randomUUID() }),
    'ERR-RATE-LIMITED': () => pastTheFactorTries(),
  },
  confirmSecondFactor: {
    'ERR-INTERNAL': async () => refusedWrite('confirmSecondFactor', await goodRequests.confirmSecondFactor(api)),
    'ERR-SECOND-FACTOR-INVALID': () => completeLoginBy({ code: '000000' }),
    'ERR-PASSKEY-INVALID': async () => completeLoginBy({ method: 'passkey', credential: await foreignPasskey() }),
    'ERR-CODE-EXPIRED': () => completeLoginBy({ challenge_id: 'none' }),
    'ERR-IDENTITY-IN-USE': () => completeLink(async (person) => linkIdentity(api, await newSession(api), person)),
    'ERR-IDENTITY-LIMIT-REACHED': () =>
      completeLink((_, user_id) =>
        api.collections.users.updateOne({ _id: user_id }, { $set: { identities: manyIdentities() } }),
      ),
    'ERR-ACCOUNT-DISABLED': () => completeLoginTo({ disabled_at: new Date() }),
    'ERR-ACCOUNT-DELETION-SCHEDULED': () => completeLoginTo({ deletes_at: inAnHour() }),
  },
  deleteTrustedDevice: {
    'ERR-INTERNAL': () => refusedTrust(),
  },
  deleteTotp: {
    'ERR-INTERNAL': () => refusedOfFactor('deleteTotp', 'totp'),
  },
  createRecoveryCodes: {
    'ERR-INTERNAL': () => refusedOfFactor('createRecoveryCodes', 'recovery_codes'),
  },
  refreshTokens: {
    IAD_JWT_REFRESH_EXPIRED: () => sendUnused('refreshTokens', { body: { refresh_token: 'none of ours' } }),
    IAD_JWT_REFRESH_STOLEN: async () =>
      sendGood('refreshTokens', api, { body: { refresh_token: await revokedToken() } }),
  },
  logOut: {
    'ERR-LOGOUT-TARGET-NOT-FOUND': () => sendUnused('logOut', { body: { refresh_token: 'none of ours' } }),
  },
  logOutAll: {
    // The caller's own session is among those to end, because there is no other.
    'ERR-INTERNAL': () => refusedWrite('logOutAll', { body: {} }),
  },
  createStepUpChallenge: {
    'ERR-INTERNAL': revokedChallenge,
  },
  confirmStepUp: {
    'ERR-REAUTHENTICATION-FAILED': () => stepUpWith({ password: 'wrong password' }),
    'ERR-STEP-UP-REQUIRED': () => stepUpWith({ method: 'email_code', code: '00000000' }),
    'ERR-SECOND-FACTOR-INVALID': () => stepUpByUsedCode(),
    async 'ERR-PASSKEY-INVALID'() {
      const session = await newSession(api);
      await addPasskey(api, session);
      const credential = await foreignPasskey();
      const challenge_id = await challengeStepUp(api, session, 'export');
      return confirmStepUp(api, session, challenge_id, { method: 'passkey', credential });
    },
    'ERR-CODE-INVALID': async () => stepUpByMail(api),
    'ERR-CODE-EXPIRED': () => stepUpWith({ challenge_id: 'none' }),
    'ERR-RATE-LIMITED': () => pastTheGuesses('confirmStepUp', { password: 'wrong password' }),
  },
  listSessions: {
    // The operation writes nothing that could be refused, so an invalid document provokes the error.
    async 'ERR-INTERNAL'() {
      const session = await newSession(api);
      const broken = { $unset: { created_at: true } } as const;
      await api.collections.sessions.updateOne({ _id: session.session_id }, broken);
      return sendTo('listSessions', api, { headers: bearer(session) });
    },
  },
  findCurrentGroup: {
    async 'ERR-INTERNAL'() {
      const session = await newSession(api);
      await api.collections.users.updateOne({ _id: session.user_id }, { $unset: { joined_at: true } } as const);
      return sendTo('findCurrentGroup', api, { headers: bearer(session) });
    },
  },
  handOverGroup: {
    'ERR-GROUP-MEMBER-NOT-FOUND': () => sendUnused('handOverGroup', { body: { user_id: crypto.randomUUID() } }),
  },
  acceptInvite: {
    IAD_GROUP_ALREADY_MEMBER: () => sendUnused('acceptInvite', { body: {} }),
    IAD_GROUP_INVITE_EXPIRED: async () => sendGood('acceptInvite', api, { params: { token: await expiredInvite() } }),
    'ERR-INVITE-TOKEN-INVALID': {
      404: () => sendUnused('acceptInvite', { params: { token: 'nothing' } }),
      async 410() {
        const { home_group_id } = await registerAccount(api);
        const token = await insertInvite(api, home_group_id, { revoked_at: new Date() });
        return sendGood('acceptInvite', api, { params: { token } });
      },
    },
    async 'ERR-RATE-LIMITED'() {
      const { home_group_id } = await registerAccount(api);
      const token = await insertInvite(api, home_group_id);
      return pastTheMove('acceptInvite', () => ({ params: { token }, body: { leave_current_group: true } }));
    },
  },
  leaveGroup: {
    'ERR-RATE-LIMITED': () => pastTheMove('leaveGroup', () => ({})),
  },
  removeMember: {
    'ERR-RATE-LIMITED': () => pastTheMove('removeMember', (user_id) => ({ params: { user_id } })),
  },
  createInvite: {
    async 'ERR-INVITE-LIMIT-REACHED'() {
      const owner = await newSession(api);
      await Promise.all(Array.from({ length: 100 }, () => insertInvite(api, owner.home_group_id)));
      return sendGood('createInvite', api, { headers: bearer(owner) });
    },
    async 'ERR-IDEMPOTENCY-KEY-REUSED'() {
      const headers = { ...bearer(await newSession(api)), 'Idempotency-Key': crypto.randomUUID() };
      await sendTo('createInvite', api, { body: {}, headers });
      return sendTo('createInvite', api, { body: { max_uses: 1 }, headers });
    },
  },
  listInvites: {
    async 'ERR-INTERNAL'() {
      const owner = await newSession(api);
      await brokenInvite(owner.home_group_id);
      return sendTo('listInvites', api, { headers: bearer(owner) });
    },
  },
  findInvite: {
    async 'ERR-INTERNAL'() {
      const { home_group_id } = await registerAccount(api);
      return sendTo('findInvite', api, { params: { token: await brokenInvite(home_group_id) } });
    },
  },
  readRevocations: {
    async 'ERR-INTERNAL'() {
      const good = await goodRequests.readRevocations(wary);
      await denyWithoutVersion(wary.keyPrefix);
      return sendTo('readRevocations', wary, good);
    },
    'ERR-INVALID-CREDENTIALS': () =>
      sendGood('readRevocations', api, { headers: { Authorization: `Bearer pantry.1.${'A'.repeat(43)}` } }),
  },
  createPasskeyChallenge: {
    'ERR-INTERNAL': () => ofBrokenPasskey('createPasskeyChallenge'),
    'ERR-PASSKEY-LIMIT-REACHED': () => aboveTwenty('createPasskeyChallenge'),
  },
  createPasskey: {
    async 'ERR-PASSKEY-INVALID'() {
      const good = await goodRequests.createPasskey(api);
      return sendTo('createPasskey', api, { ...good, headers: bearer(await newSession(api)) });
    },
    'ERR-PASSKEY-EXISTS': () => sendTwice('createPasskey'),
    'ERR-PASSKEY-LIMIT-REACHED': () => aboveTwenty('createPasskey'),
    async 'ERR-CODE-EXPIRED'() {
      const session = await newSession(api);
      const { challenge_id, options } = await requestPasskey(api, session);
      await addPasskey(api, session);
      const credential = createAuthenticator({ origin: appOrigin }).create(options);
      return sendTo('createPasskey', api, { headers: bearer(session), body: { challenge_id, credential } });
    },
    async 'ERR-RATE-LIMITED'() {
      const session = await newSession(api);
      const add = async () => {
        const { challenge_id, options } = await requestPasskey(api, session);
        const credential = createAuthenticator({ origin: appOrigin }).create(options);
        return sendTo('createPasskey', narrow, { headers: bearer(session), body: { challenge_id, credential } });
      };
      await add();
      return add();
    },
  },
  listPasskeys: {
    'ERR-INTERNAL': () => ofBrokenPasskey('listPasskeys'),
  },
  deletePasskey: {
    async 'ERR-LAST-CREDENTIAL'() {
      const session = await newSession(api);
      const { passkey_id, authenticator } = await addPasskey(api, session);
      await revokePassword(api, session);
      const step_up_token = await stepUpByPasskey(api, session, authenticator, 'passkeys');
      return deletePasskey(api, session, passkey_id, { step_up_token });
    },
  },
  requestLinkCode: {
    'ERR-CODE-EXPIRED': () => sendUnused('requestLinkCode', { body: { link_challenge_id: 'none' } }),
  },
  linkByProof: {
    'ERR-INVALID-CREDENTIALS': () => linkTo({}, { password: 'wrong password' }),
    async 'ERR-PASSKEY-INVALID'() {
      const { body } = await goodRequests.logInByPasskey(api);
      return linkTo({}, { credential: body?.credential });
    },
    'ERR-CODE-INVALID': () => linkTo({}, { challenge_id: crypto.randomUUID(), code: '00000000' }),
    'ERR-CODE-EXPIRED': () => linkTo({ ways_changed_at: new Date() }),
    async 'ERR-IDENTITY-IN-USE'() {
      const session = await newSession(api);
      const person = newPerson({ email: session.email });
      const { link_challenge_id } = await demandLink(api, person);
      await linkIdentity(api, await newSession(api), person);
      return linkByProof(api, link_challenge_id, { password });
    },
    'ERR-IDENTITY-LIMIT-REACHED': () => linkTo({ identities: manyIdentities() }),
    'ERR-ACCOUNT-DISABLED': () => linkTo({ disabled_at: new Date() }),
    'ERR-ACCOUNT-DELETION-SCHEDULED': () => linkTo({ deletes_at: inAnHour() }),
    async 'ERR-EMAIL-NOT-VERIFIED'() {
      const { email } = await registerAccount(api);
      return linkByProof(wary, (await demandLink(wary, newPerson({ email }))).link_challenge_id, { password });
    },
    async 'ERR-SECOND-FACTOR-REQUIRED'() {
      const { email } = await guardedAccount(api);
      return linkByProof(api, (await demandLink(api, newPerson({ email }))).link_challenge_id, { password });
    },
  },
  logInByProvider: {
    'ERR-IDENTITY-TOKEN-INVALID': async () =>
      sendGood('logInByProvider', api, { body: { ...(await provePerson(api, newPerson())), id_token: 'none' } }),
    'ERR-CODE-EXPIRED': () => sendGood('logInByProvider', api, { body: { challenge_id: 'none', id_token: 'none' } }),
    'ERR-IDENTITY-ADDRESS-REQUIRED': () => logInByProvider(api, { sub: crypto.randomUUID() }),
    'ERR-REGISTRATION-REQUIRED': () => logInByProvider(api, newPerson()),
    'ERR-ACCOUNT-LINK-REQUIRED': async () =>
      logInByProvider(api, newPerson({ email: (await registerAccount(api)).email })),
    async 'ERR-EMAIL-ALREADY-EXISTS'() {
      const session = await newSession(api);
      await changeEmail(api, session, newEmail());
      return logInByProvider(api, newPerson({ email: session.email }), newHome);
    },
    'ERR-INVITE-TOKEN-INVALID': {
      404: () => logInByProvider(api, newPerson(), { space_creation_mode: 'JOIN_EXISTING', invite_token: 'none' }),
      async 410() {
        const fields = { space_creation_mode: 'JOIN_EXISTING', invite_token: await expiredInvite() };
        return logInByProvider(api, newPerson(), fields);
      },
    },
    'ERR-IDENTITY-DISABLED': () => logInByProviderTo({ 'identities.0.disabled_at': new Date() }),
    'ERR-ACCOUNT-DISABLED': () => logInByProviderTo({ disabled_at: new Date() }),
    'ERR-ACCOUNT-DELETION-SCHEDULED': () => logInByProviderTo({ deletes_at: inAnHour() }),
    'ERR-EMAIL-NOT-VERIFIED': () => logInByProvider(wary, newPerson({ email_verified: false }), newHome),
    async 'ERR-SECOND-FACTOR-REQUIRED'() {
      const person = newPerson();
      const { json } = await logInByProvider(api, person, newHome);
      const guarded = await guardedAccount(api);
      const totp = (await api.collections.users.findOne({ _id: guarded.user_id }))?.totp;
      if (totp) await api.collections.users.updateOne({ _id: json.data.user_id }, { $set: { totp } });
      return logInByProvider(api, person);
    },
  },
  listIdentities: {
    'ERR-INTERNAL': () => ofBrokenIdentity(),
  },
  linkIdentity: {
    'ERR-REAUTHENTICATION-FAILED': async () => linkIdentity(api, await newSession(api), newPerson(), wrong),
    'ERR-STEP-UP-REQUIRED': async () =>
      linkIdentity(api, await newSession(api), newPerson(), { ...wrong, step_up_token: 'none' }),
    'ERR-RATE-LIMITED': () => pastTheGuesses('linkIdentity'),
    'ERR-IDENTITY-TOKEN-INVALID': async () => linkIdentity(api, await newSession(api), newPerson({ sub: '' })),
    'ERR-CODE-EXPIRED': async () =>
      linkIdentity(api, await newSession(api), newPerson(), { challenge_id: 'none', current_password: password }),
    async 'ERR-IDENTITY-IN-USE'() {
      const person = newPerson();
      await logInByProvider(api, person, newHome);
      return linkIdentity(api, await newSession(api), person);
    },
    async 'ERR-IDENTITY-LIMIT-REACHED'() {
      const session = await newSession(api);
      const identities = manyIdentities();
      await api.collections.users.updateOne({ _id: session.user_id }, { $set: { identities } });
      return linkIdentity(api, session, newPerson());
    },
  },
  unlinkIdentity: {
    async 'ERR-LAST-CREDENTIAL'() {
      const session = await newSession(api);
      const { identity_id } = (await linkIdentity(api, session, newPerson())).json.data;
      const step_up_token = await stepUpByPassword(session, 'identities');
      await revokePassword(api, session);
      return unlinkIdentity(api, session, identity_id, { step_up_token });
    },
  },
  receiveProviderNotice: {
    'ERR-IDENTITY-TOKEN-INVALID': () => sendUnused('receiveProviderNotice', { body: { payload: 'none' } }),
  },
  logInByPasskey: {
    async 'ERR-PASSKEY-INVALID'() {
      const unknownAuthenticator = createAuthenticator({ origin: appOrigin });
      unknownAuthenticator.create((await requestPasskey(api, await newSession(api))).options);
      return logInByPasskey(api, unknownAuthenticator);
    },
    async 'ERR-CODE-EXPIRED'() {
      const good = await goodRequests.logInByPasskey(api);
      await sendTo('logInByPasskey', api, good);
      return sendTo('logInByPasskey', api, { body: { ...good.body, device_id: crypto.randomUUID() } });
    },
    'ERR-ACCOUNT-DISABLED': () => logInByPasskeyTo({ disabled_at: new Date() }),
    'ERR-ACCOUNT-DELETION-SCHEDULED': () => logInByPasskeyTo({ deletes_at: inAnHour() }),
    async 'ERR-EMAIL-NOT-VERIFIED'() {
      const { authenticator } = await addPasskey(api, await newSession(api));
      return logInByPasskey(wary, authenticator);
    },
  },
};

/**
 * Returns, for each error code of the operation, a function that provokes the code. If a code has several statuses, the
 * keys are the code and a status.
 */
function provocationsOf(name: Operation): [string, Provocation][] {
  const own: Readonly<Record<string, Provocation | Readonly<Record<number, Provocation>>>> =
    ownProvocations[name] ?? {};
  const shared = Object.entries(sharedProvocations).filter(([code]) => isDeclared(name, code) && !(code in own));
  const entries = Object.entries(own).flatMap(([code, one]) =>
    typeof one === 'function'
      ? [[code, one] as [string, Provocation]]
      : Object.entries(one).map(([status, provoke]): [string, Provocation] => [`${code} ${status}`, provoke]),
  );
  return [...shared.map(([code, provoke]): [string, Provocation] => [code, () => provoke(name)]), ...entries];
}

const isDeclared = (name: Operation, code: string) => (routes[name].errors as readonly string[]).includes(code);

// guarantees: openapi-matches
test.each(operations)('%s has a provocation for every code that it declares, and for no other', (name) => {
  const provoked = new Set(provocationsOf(name).map(([key]) => key.split(' ')[0]));
  expect([...provoked].sort()).toEqual([...routes[name].errors].sort());
});

const provocations = operations.flatMap((name) =>
  provocationsOf(name).map(([key, provoke]) => [name, key, provoke] as const),
);

test.each(provocations)('%s answers %s as the document says', async (name, key, provoke) => {
  const { path, method } = routes[name];
  const [code, status] = key.split(' ');
  const answer = await provoke();
  expect(answer.json.error_code).toBe(code);
  if (status !== undefined) expect(answer.status).toBe(Number(status));
  expect(checker.answerFault({ path: openApiPath(path), method }, answer)).toBeUndefined();
});

import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { routes } from '@auth-account/contracts';
import { findFreePort, waitUntil } from '@auth-account/local-stack';
import { startProvider } from '@auth-account/local-stack/provider';
import { createAccessTokenSigner, loadKeyFile } from '@auth-account/tokens';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { MongoClient } from 'mongodb';
import {
  password as accountPassword,
  logIn,
  logOut,
  newEmail,
  newSession,
  registerAccount,
  type TokenPair,
} from '../support/api/accounts.ts';
import { bearer, drive } from '../support/api/api-driver.ts';
import { addPasskey, passkeyLogin } from '../support/api/passkeys.ts';
import { exchangingEntry, newPerson, requestProviderLogin, unlinkIdentity } from '../support/api/providers.ts';
import { beginLogin, codeAt, completeLogin, guardedAccount, seedOf, stepUpBy } from '../support/api/second-factor.ts';
import { challengeStepUp } from '../support/api/step-up.ts';
import { dial } from '../support/gateway/push-client.ts';
import { openSocket } from '../support/gateway/raw-connection.ts';
import { type Answer, type SentRequest, send } from '../support/http-client.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { authctl } from '../support/processes/authctl.ts';
import { startTestStack, type TestStack } from '../support/processes/test-stack.ts';
import { serviceEnvironment } from '../support/service-environment.ts';
import { storesOf } from '../support/stores/stores-of.ts';
import { cheapHashes, testEnvironment } from '../support/test-environment.ts';
import { dumpMongo, dumpRedis, findSecrets, type Places } from './secret-search.ts';

/** The request id of this test. The search must find it, which proves that it works. */
const requestId = 'canary-request-id';

/** Every secret that was sent or issued, by its kind. */
const secrets = new Map<string, string>();
/** Personal data that belong in the database and nowhere else. */
const emails = new Map<string, string>();
/** Exports of accounts. */
const exports: string[] = [];
/** Answers to requests that failed. */
const refusals: string[] = [];

/** Returns a secret that nothing else contains. */
function canary(label: string): string {
  const secret = `Cnry ${randomBytes(18).toString('base64url')}?`;
  secrets.set(label, secret);
  return secret;
}

/** Returns a secret like `canary`, but only with characters that a header and a path may have. */
function canaryToken(label: string): string {
  const secret = `cnry-${randomBytes(24).toString('hex')}`;
  secrets.set(label, secret);
  return secret;
}

function canaryEmail(label: string): string {
  const email = newEmail();
  emails.set(label, email);
  return email;
}

/** Records the tokens of an answer as secrets. */
function keep(label: string, tokens: TokenPair): TokenPair {
  secrets.set(`refresh token ${label}`, tokens.refresh_token);
  secrets.set(`access token ${label}`, tokens.access_token);
  secrets.set(`signature of access token ${label}`, tokens.access_token.split('.')[2] ?? '');
  return tokens;
}

let stack: TestStack;
let mongo: MongoClient;
let redis: Redis;
let base: string;
let subscriber: Server;
let otlp: OtlpReceiver;
let issuer: Awaited<ReturnType<typeof startProvider>>;
/** Every command that any client sent to Redis. */
const commands: string[] = [];

const subscriberSecret = `whsec_${Buffer.from(canary('webhook secret')).toString('base64')}`;
const brokenSecret = `whsec_${Buffer.from(canary('webhook secret of a subscriber that is down')).toString('base64')}`;

beforeAll(async () => {
  subscriber = createServer((_req, res) => void res.writeHead(204).end());
  await new Promise<void>((resolve) => subscriber.listen(0, '127.0.0.1', resolve));
  otlp = await startOtlpReceiver();
  issuer = await startProvider();
  const provider = exchangingEntry(issuer);
  secrets.set('private key for the provider', provider.private_key.split('\n')[1] ?? '');
  const port = await findFreePort();
  base = `http://127.0.0.1:${port}`;
  const url = `http://127.0.0.1:${(subscriber.address() as AddressInfo).port}/events`;
  const closed = `http://127.0.0.1:${await findFreePort()}/events`;
  stack = await startTestStack({
    API_PORT: String(port),
    ...cheapHashes,
    LOG_LEVEL: 'trace',
    VALIDATE_RESPONSES: 'false',
    REFRESH_RETRY_WINDOW: '0',
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    IDENTITY_PROVIDERS: JSON.stringify([provider]),
    EVENT_SUBSCRIBERS: JSON.stringify([
      { name: 'analytics', kind: 'webhook', url, secret: subscriberSecret },
      { name: 'broken', kind: 'webhook', url: closed, secret: brokenSecret },
    ]),
  });
  mongo = new MongoClient(testEnvironment().mongodbUri);
  redis = new Redis(stack.redis.url);
});
afterAll(async () => {
  redis.disconnect();
  await mongo.close();
  await stack.close();
  await otlp.close();
  await issuer.close();
  subscriber.closeAllConnections();
  subscriber.close();
});

async function ask(request: SentRequest): Promise<Answer> {
  const headers = { 'Content-Type': 'application/json', 'X-Request-ID': requestId, ...request.headers };
  const answer = await send(base, { ...request, headers });
  if (answer.status >= 400) refusals.push(answer.text, JSON.stringify(answer.headers));
  return answer;
}

const api = drive(ask);
const invitesPath = '/api/v1/invites';
const database = () => mongo.db(stack.collections.users.dbName);

async function expectStatus(status: number, answer: Promise<Answer>): Promise<Answer> {
  const got = await answer;
  expect([got.status, got.text]).toEqual([status, got.text]);
  return got;
}

/** Registers, repeats that with the same key and with another body, and registers with an invite. */
async function registrations(): Promise<{ email: string; password: string }> {
  const [email, password] = [canaryEmail('e-mail address'), canary('password')];
  const key = { 'Idempotency-Key': canaryToken('Idempotency-Key') };
  const body = { email, password, space_creation_mode: 'CREATE_NEW_HOME', extra: canary('unknown field') };
  const { json } = await expectStatus(201, api.registerAccount(body, key));
  await expectStatus(201, api.registerAccount(body, key));
  await expectStatus(422, api.registerAccount({ ...body, password: canary('password of a reused key') }, key));
  await expectStatus(409, api.registerAccount({ ...body, password: canary('password at a taken email address') }));

  const invite = randomUUID();
  const at = new Date();
  await storesOf(stack.collections).invites.insert({
    _id: invite,
    home_group_id: json.data.home_group_id,
    account_type: 'HOME',
    created_by: json.data.user_id,
    created_at: at,
    expires_at: new Date(at.getTime() + 60_000),
    max_uses: 1,
    uses: 0,
    revoked_at: null,
  });
  secrets.set('invite token', invite);
  const join = { password: canary('password of who joins'), space_creation_mode: 'JOIN_EXISTING' };
  const joining = { ...join, email: canaryEmail('e-mail address of who joins'), invite_token: invite };
  await expectStatus(201, api.registerAccount(joining));
  await expectStatus(410, api.registerAccount({ ...joining, email: canaryEmail('e-mail address too late') }));
  await invitations(await logIn(api, email, { password }));
  const unknown = { invite_token: canaryToken('unknown invite token'), email: canaryEmail('e-mail address uninvited') };
  await expectStatus(404, api.registerAccount({ ...join, ...unknown }));
  return { email, password };
}

/** Uses invites in every way: creates, repeats, lists, reads, accepts, revokes, and lets the store refuse. */
async function invitations(owner: TokenPair): Promise<void> {
  const headers = bearer(keep('of an owner', owner).access_token);
  const key = { ...headers, 'Idempotency-Key': canaryToken('Idempotency-Key of an invite') };
  const { json } = await expectStatus(201, api.createInvite({}, key));
  await expectStatus(201, api.createInvite({}, key));
  secrets.set('invite token of its own', json.data.invite_token);
  const path = `${invitesPath}/${json.data.invite_token}`;
  await expectStatus(200, api.listInvites(headers));
  await expectStatus(200, api.findInvite({ token: json.data.invite_token }));
  await expectStatus(405, ask({ method: 'PUT', path }));
  await expectStatus(400, api.findInvite({ token: json.data.invite_token }, { 'X-Request-ID': '' }));
  await expectStatus(401, api.revokeInvite({ token: json.data.invite_token }));
  await expectStatus(400, api.acceptInvite({ token: json.data.invite_token, leave_current_group: true }, headers));
  const never = (validator: object) => database().command({ collMod: 'invites', validator });
  await never({ never: { $exists: true } });
  await expectStatus(500, api.revokeInvite({ token: json.data.invite_token }, headers));
  await expectStatus(500, api.createInvite({}, headers));
  await never({});
  await expectStatus(200, api.revokeInvite({ token: json.data.invite_token }, headers));
}

/** Sends wrong bodies and headers, with secrets in unexpected places. */
async function malformed(): Promise<void> {
  for (const path of [routes.registerAccount.path, routes.logIn.path, routes.refreshTokens.path]) {
    const name = (what: string) => `${what} at ${path}`;
    await ask({ path, body: `{"password":"${canary(name('bad JSON'))}"` });
    await ask({ path, body: `{"a":1,"a":"${canary(name('doubled key'))}","${canary(name('member name'))}":1}` });
    await ask({ path, body: JSON.stringify(canary(name('JSON string'))) });
    await ask({ path, body: Buffer.from([0xff, ...Buffer.from(canary(name('bad UTF-8')))]) });
    await ask({ path, body: canary(name('text')), headers: { 'Content-Type': 'text/plain' } });
    await ask({ path, body: { password: canary(name('large body')), filler: 'x'.repeat(17_000) } });
    await ask({ path, body: { password: [canary(name('password in an array'))], refresh_token: 1 } });
    await ask({ path, body: { password: { $gt: canary(name('password in an operator')) }, refresh_token: [1] } });
    await ask({ path, body: { email: canary(name('password as address')), password: 'short' } });
    await ask({ path: `${path}?password=${canaryToken(name('query'))}`, body: {} });
    await ask({ path, body: {}, headers: { 'X-Request-ID': `a ${canaryToken(name('malformed request id'))}` } });
    await ask({ path, body: {}, headers: { 'Idempotency-Key': `a ${canaryToken(name('malformed key'))}`.repeat(8) } });
    const cookie = { Cookie: `session=${canaryToken(name('cookie'))}` };
    await ask({ path, method: 'GET', headers: { ...cookie, ...bearer(canaryToken(name('token of no use'))) } });
  }
  await api.findInvite({ token: canaryToken('invite token in a path') });
  await ask({ method: 'GET', path: `/%ff/${canaryToken('path that cannot be decoded')}` });
  for (const authorization of ['Basic', 'Bearer', 'Bearer a b', 'Digest']) {
    const headers = { Authorization: `${authorization} ${canaryToken(`credentials of ${authorization}`)}` };
    await expectStatus(401, api.logOut({}, headers));
  }
}

/** Sends wrong passwords up to 429, and ends sessions in every way. */
async function sessions({ email, password }: { email: string; password: string }): Promise<void> {
  for (let i = 0; i < 8; i += 1) {
    await api.logIn({ email: canaryEmail(`e-mail address of nobody ${i}`), password: canary(`guess ${i}`) });
    const refused = { email, password: canary(`wrong password ${i}`), device_name: canary(`device name ${i}`) };
    await api.logIn(refused);
  }
  const device_id = randomUUID();
  await waitUntil(async () => (await api.logIn({ email, password, device_id })).status === 200, {
    what: 'the limit to let the owner in',
    timeoutMs: 60_000,
  });
  const first = keep('1', await logIn(api, email, { password, device_id }));
  const refresh = async (label: string, refresh_token: string): Promise<TokenPair> =>
    keep(label, (await expectStatus(200, api.refreshTokens({ refresh_token }))).json.data);
  const second = await refresh('2', first.refresh_token);
  await refresh('2 again', first.refresh_token);
  const third = await refresh('3', second.refresh_token);
  await expectStatus(401, api.refreshTokens({ refresh_token: first.refresh_token }));
  await expectStatus(401, api.refreshTokens({ refresh_token: third.refresh_token }));
  await expectStatus(401, api.refreshTokens({ refresh_token: `${third.refresh_token}A` }));
  await api.refreshTokens({ refresh_token: canaryToken('refresh token of nobody') });

  const old = keep('that expires', await logIn(api, email, { password }));
  await stack.collections.sessions.updateOne({ _id: old.session_id }, { $set: { expires_at: new Date(0) } });
  await expectStatus(401, api.refreshTokens({ refresh_token: old.refresh_token }));

  const session = keep('of the last session', await logIn(api, email, { password }));
  const { access_token, refresh_token } = session;
  const expired = await expiredToken(session);
  secrets.set('expired access token', expired);
  await expectStatus(401, api.logOut({ refresh_token }, bearer(expired)));
  await expectStatus(401, api.logOut({ refresh_token }, bearer(`${access_token}x`)));
  await expectStatus(404, api.logOut({ refresh_token: old.refresh_token }, bearer(access_token)));
  await api.listSessions(bearer(access_token));
  await streams(session);
  await expectStatus(200, logOut(api, session));
  await expectStatus(404, logOut(api, session));
  await api.listSessions(bearer(access_token));
}

async function expiredToken({ session_id, device_id, home_group_id }: TokenPair): Promise<string> {
  const keys = await loadKeyFile(join(testEnvironment().keysDir, 'access-token-keys.json'));
  const settings = { keys, issuer: 'https://auth.local', audience: 'food-storage' } as const;
  const sign = createAccessTokenSigner({ ...settings, ttlSeconds: 600, now: () => Date.now() - 9_999_000 });
  return sign({ user_id: randomUUID(), home_group_id, account_type: 'HOME', sid: session_id, ver: 1, device_id });
}

/** Uses the gateway: good and bad handshakes by header and by subprotocol, and frames with tokens. */
async function streams(session: TokenPair): Promise<void> {
  const stream = await stack.openStream(session);
  const { push_stream_url: url } = session as TokenPair & { readonly push_stream_url: string };
  const handshake = (subprotocols: string[], headers: Record<string, string>, frames: string[] = []) =>
    new Promise<void>((resolve) => {
      const socket = dial(url, { subprotocols, headers: { 'X-Request-ID': requestId, ...headers } });
      socket.on('error', () => resolve());
      socket.on('close', () => resolve());
      socket.on('message', () => {
        for (const frame of frames) socket.send(frame);
        frames.length = 0;
        socket.close();
      });
    });
  await handshake([], bearer(canaryToken('access token at the gateway')));
  await handshake(['bearer', canaryToken('access token as a subprotocol')], {});
  await handshake(['bearer', session.access_token], {}, [
    JSON.stringify({ type: 'auth', access_token: session.access_token }),
    JSON.stringify({ type: 'auth', access_token: canaryToken('access token in a frame') }),
    canary('frame that is no JSON'),
  ]);
  stream.terminate();
}

/** Uses a second factor in every way, and exports the account. Returns the account's id. */
async function secondFactors(): Promise<string> {
  const guarded = await guardedAccount(api);
  const { email, secret, recovery_codes, access_token } = guarded;
  keep('of a guarded account', guarded);
  emails.set('e-mail address of a guarded account', email);
  const seed = seedOf(secret);
  secrets.set('seed in base32', secret);
  for (const encoding of ['hex', 'base64', 'latin1'] as const)
    secrets.set(`seed in ${encoding}`, seed.toString(encoding));
  for (const [place, code] of recovery_codes.entries()) secrets.set(`recovery code ${place}`, code);
  const device = { device_id: randomUUID() };
  const challenge_id = await beginLogin(api, email, device);
  secrets.set('challenge of a second factor', challenge_id);
  // What has another form than a code is refused before.
  const wrongCode = String(recovery_codes[1]).replaceAll(/\w/g, (char) => (char.toUpperCase() === 'A' ? 'B' : 'A'));
  secrets.set('wrong recovery code', wrongCode);
  await expectStatus(403, completeLogin(api, challenge_id, { method: 'recovery_code', code: wrongCode }));
  const by = { method: 'recovery_code', code: recovery_codes[0], trust_device: true };
  const { json } = await expectStatus(200, completeLogin(api, challenge_id, by));
  const { trusted_device_token } = keep('of a trusted device', json.data) as TokenPair & {
    trusted_device_token: string;
  };
  secrets.set('trusted device token', trusted_device_token);
  const given = { email, password: accountPassword, ...device };
  await expectStatus(200, api.logIn({ ...given, trusted_device_token }));
  await expectStatus(403, api.logIn({ ...given, trusted_device_token: canaryToken('token of no device') }));
  secrets.set('challenge of a step-up', await challengeStepUp(api, guarded, 'export'));
  const code = codeAt(secret, Date.now(), 1);
  // In quotes, because six digits alone are in many numbers.
  secrets.set('code of the app', JSON.stringify(code));
  const step_up_token = await stepUpBy(api, guarded, 'export', code);
  secrets.set('step-up token', step_up_token);
  const exported = await expectStatus(200, api.exportAccount({ step_up_token }, bearer(access_token)));
  exports.push(exported.text);
  return guarded.user_id;
}

/** Makes a passkey and logs in by it, also with a wrong signature. Returns the account's id. */
async function passkeys(): Promise<string> {
  const session = await newSession(api);
  keep('of a passkey', session);
  emails.set('e-mail address of a passkey', session.email);
  const { authenticator, credential_id } = await addPasskey(api, session);
  emails.set('id of a credential', credential_id);
  for (const isForged of [true, false]) {
    const body = await passkeyLogin(api, authenticator, { isForged });
    secrets.set(`challenge of a passkey, ${isForged}`, body.challenge_id);
    secrets.set(`signature of a passkey, ${isForged}`, body.credential.response.signature);
    await expectStatus(isForged ? 403 : 200, api.logInByPasskey(body));
  }
  return session.user_id;
}

/**
 * Logs in by a provider, with a code that is refused and one that brings a token, and removes the identity while the
 * provider is down. Returns the account's id.
 */
async function identities(): Promise<string> {
  const session = await newSession(api);
  keep('of an identity', session);
  emails.set('e-mail address of an identity', session.email);
  const { sub } = newPerson();
  const proof = async (label: string, authorization_code: string) => {
    const { challenge_id, nonce } = await requestProviderLogin(api);
    const id_token = await issuer.sign({ sub, aud: 'app', nonce });
    secrets.set(`ID token ${label}`, id_token);
    secrets.set(`code ${label}`, authorization_code);
    return { challenge_id, id_token, authorization_code };
  };
  const code = () => issuer.issueCode({ sub, aud: 'app' });
  const link = { ...(await proof('of a link', canaryToken('code of nobody'))), current_password: accountPassword };
  const headers = bearer(session.access_token);
  const { json } = await expectStatus(201, api.linkIdentity({ identity: 'office', ...link }, headers));
  const login = await expectStatus(
    200,
    api.logInByProvider({ provider: 'office', ...(await proof('of a login', code())) }),
  );
  keep('of a login by a provider', login.json.data);
  secrets.set("the provider's refresh token", issuer.issued().at(-1) ?? 'none');
  issuer.behave({ status: 503 }, 'revoke');
  await expectStatus(200, unlinkIdentity(api, session, json.data.identity_id, { current_password: accountPassword }));
  return session.user_id;
}

/** Adds the server's keys to the secrets. */
async function serverKeys(): Promise<void> {
  for (const name of ['access-token', 'refresh-token', 'server']) {
    const { keys } = await loadKeyFile(join(testEnvironment().keysDir, `${name}-keys.json`));
    for (const { kid, k, d } of keys) secrets.set(`key ${kid} of ${name}`, String(k ?? d));
  }
}

/** Returns all that authctl prints about the accounts, with and without `--json`. */
async function printedBy(userIds: readonly string[]): Promise<Places> {
  const env = { ...serviceEnvironment(database().databaseName), REDIS_URL: stack.redis.url };
  const rows = await stack.collections.outbox.find().limit(20).toArray();
  const commands = [
    ...userIds.flatMap((id) => [
      ['user', 'show', id],
      ['sessions', 'list', '--user', id],
    ]),
    ...rows.map(({ _id }) => ['events', 'show', String(_id)]),
    ['events', 'list'],
    ['events', 'subscribers'],
    ['commands', 'list'],
    ['keys', 'list'],
    ['trace', requestId],
    ['doctor'],
  ];
  const places: Places = {};
  for (const args of commands) {
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await authctl([...args, ...more], { env });
      places[`authctl ${args.join(' ')} ${more}`] = stdout + stderr;
    }
  }
  return places;
}

/** Repeats requests while stores refuse or are away. */
async function failures({ email, password }: { email: string; password: string }): Promise<void> {
  const never = (validator: object) => database().command({ collMod: 'users', validator });
  await never({ never: { $exists: true } });
  const register = (label: string) => {
    const body = { email: canaryEmail(`e-mail address ${label}`), password: canary(`password ${label}`) };
    const key = { 'Idempotency-Key': canaryToken(`Idempotency-Key ${label}`) };
    return api.registerAccount({ ...body, space_creation_mode: 'CREATE_NEW_OFFICE' }, key);
  };
  await expectStatus(500, register('that the store refuses'));
  await expectStatus(500, api.logIn({ email, password }));
  await never({});

  const session = keep('while Redis dies', await logIn(api, email, { password }));
  await stack.redis.kill();
  await expectStatus(201, register('while Redis is away'));
  const next = await expectStatus(200, api.refreshTokens({ refresh_token: session.refresh_token }));
  const renewed = keep('while Redis is away', next.json.data);
  await expectStatus(401, api.logIn({ email, password: canary('wrong password while Redis is away') }));
  await expectStatus(200, logOut(api, renewed));
  await stack.redis.start();
}

/**
 * Records every command that Redis gets from now on. Uses a socket, because ioredis' monitor fails if commands arrive
 * together with its answer.
 */
async function monitorRedis(url: string): Promise<Socket> {
  const socket = openSocket(url);
  const lines = createInterface({ input: socket });
  const begun = once(lines, 'line');
  lines.on('line', (line) => commands.push(line.replaceAll('\\"', '"')));
  socket.write('MONITOR\r\n');
  expect(await begun).toEqual(['+OK']);
  return socket;
}

// guarantees: no-factor-secret-readable, no-secret-leaks
test('no secret is written down anywhere, on whatever path it came', async () => {
  const monitor = await monitorRedis(stack.redis.url);
  const account = await registrations();
  await malformed();
  await sessions(account);
  const userIds = [await secondFactors(), await passkeys(), await identities()];
  await serverKeys();
  monitor.destroy();
  // A separate fixture without secrets, as a control for the search.
  const seen = await newSession(api);
  await failures(account);
  const last = await registerAccount(api);
  await waitUntil(async () => (await dumpedText(await dumpRedis(redis))).includes(last.user_id), {
    what: 'the last event to be a job',
    timeoutMs: 60_000,
  });

  await otlp.waitFor((spans) => spans.some(({ name }) => name === 'event.deliver'));
  const services = ['api', 'push-gateway', 'worker'] as const;
  const logs: Places = {};
  const metrics: Places = {};
  for (const service of services) {
    logs[`log of ${service}`] = stack.logs[service].join('\n');
    metrics[`metrics of ${service}`] = (await stack.ops(service, '/metrics')).text;
  }
  const stores = { ...(await dumpMongo(database())), ...(await dumpRedis(redis)) };
  const elsewhere = { ...logs, ...metrics, 'commands to Redis': commands.join('\n'), traces: otlp.raw() };
  const printed = await printedBy(userIds);
  const answers = { 'answers to requests that failed': refusals.join('\n') };

  // Shows that the search finds what is there.
  const control = new Map([['session', seen.session_id]]);
  expect(findSecrets(control, { ...logs, ...stores })).toContain('session (plain) in log of api');
  expect(findSecrets(control, stores)).toContain('session (plain) in MongoDB user_sessions');
  expect(logs['log of api']).toContain(requestId);
  expect(logs['log of push-gateway']).toContain(requestId);
  expect(elsewhere.traces).toContain(requestId);
  expect(printed[`authctl user show ${userIds[1]} --json`]).toContain(userIds[1]);
  expect(printed[`authctl trace ${requestId} `]).toContain('session created');
  expect(metrics['metrics of api']).toContain('auth_rate_limited_total{rule="login_source"}');
  expect(commands.some((command) => / "evalsha" .* "succeed" /i.test(command))).toBe(true);

  // Stored by design: the token of an invite, by which the invite and its members are found, and the SHA-256 of a
  // session's newest token and of a trusted device's token.
  const stored = findSecrets(secrets, { ...elsewhere, ...stores, ...printed });
  const byDesign =
    /^invite token( of its own)? \((plain|percent-encoded)\) in MongoDB (invites|idempotency|users)$|^refresh token .* \(sha256 in base64(url)?\) in MongoDB user_sessions$|^trusted device token \(sha256 in base64(url)?\) in MongoDB users$/;
  expect(stored.filter((where) => !byDesign.test(where))).toEqual([]);
  expect(stored).toContain('invite token (plain) in MongoDB invites');

  expect(findSecrets(secrets, { exports: exports.join('\n') })).toEqual([]);

  // A refused invite token is repeated to its sender, and a login that needs a second factor gets its challenge.
  const found = findSecrets(secrets, answers);
  expect(
    found.filter(
      (where) =>
        !/^((unknown )?invite token( in a path)?|challenge of a second factor) \((plain|percent-encoded)\)/.test(where),
    ),
  ).toEqual([]);

  const mongoUsers = /in MongoDB users$/;
  expect(findSecrets(emails, { ...elsewhere, ...stores }).filter((where) => !mongoUsers.test(where))).toEqual([]);
  for (const [place, text] of Object.entries({ ...elsewhere, ...answers })) {
    expect([place, text.includes('$argon2')]).toEqual([place, false]);
  }
});

function dumpedText(places: Places): string {
  return Object.values(places).join('\n');
}

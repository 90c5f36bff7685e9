import { randomBytes, randomUUID } from 'node:crypto';
import { createDenyList, denialLifetimeMs } from '@auth-account/messaging/deny-list';
import { openRedis, redisKeys, workerOptions } from '@auth-account/redis';
import { collectionsOf } from '@auth-account/stores';
import type { SessionDocument } from '@auth-account/stores/documents';
import { createAccessTokenSigner, createRefreshTokens, loadKeyFile, refreshTokenHash } from '@auth-account/tokens';
import { createAccessTokenVerifier, createVerifierCache } from '@auth-account/verifier/access-token';
import { hash, verify } from '@node-rs/argon2';
import express, { type Request } from 'express';
import { Binary, MongoClient } from 'mongodb';
import { newAccountSeed } from '../../../support/api/seed-accounts.ts';
import { newSessionDocument } from '../../../support/api/session-document.ts';
import { seededTokenSeconds } from './session-seeds.ts';

/**
 * A process that does the api's core work without validation, limits, logs, metrics, audit, traces, request ids,
 * idempotency, outbox relay or admission of hashes. Its writes are as durable as the api's.
 */
const { MONGODB_URI = '', MONGODB_DATABASE = '', REDIS_URL = '', KEY_PREFIX = '' } = process.env;
const { ACCESS_TOKEN_KEYS_FILE = '', REFRESH_TOKEN_KEYS_FILE = '' } = process.env;

const mongo = new MongoClient(MONGODB_URI, { writeConcern: { w: 'majority' } });
const { users, groups, sessions, outbox } = collectionsOf(mongo.db(MONGODB_DATABASE));
const redis = openRedis({ REDIS_URL }, workerOptions());
const denyList = createDenyList(redis, redisKeys(KEY_PREFIX), denialLifetimeMs(600));
const refreshTokens = createRefreshTokens(await loadKeyFile(REFRESH_TOKEN_KEYS_FILE));
const settings = {
  keys: await loadKeyFile(ACCESS_TOKEN_KEYS_FILE),
  issuer: 'https://auth.local',
  audience: 'food-storage',
  ttlSeconds: 600,
} as const;
const sign = createAccessTokenSigner(settings);
const verifyToken = await createAccessTokenVerifier({ ...settings, ttlSeconds: seededTokenSeconds });
const check = createVerifierCache(verifyToken, { ...settings, maxEntries: 10_000 });
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

const app = express();
app.use(express.json());
const callerOf = (req: Request) => check(req.headers.authorization?.slice('Bearer '.length) ?? '');

app.post('/api/v1/auth/register', async (req, res) => {
  const { email, password } = req.body;
  const { user, group } = newAccountSeed(await hash(password, cost));
  const at = user.created_at;
  await mongo.withSession((session) =>
    session.withTransaction(async () => {
      await users.insertOne({ ...user, email, email_key: email }, { session });
      await groups.insertOne(group, { session });
      const row = { topic: 'bare', state: 'pending', created_at: at, locked_until: at, attempts: 0, deliveries: {} };
      await outbox.insertOne({ ...row, _id: randomUUID(), event: {} } as never, { session });
    }),
  );
  res.status(201).json({ data: { user_id: user._id, home_group_id: group._id } });
});

app.post('/api/v1/auth/login', async (req, res) => {
  const { email, password } = req.body;
  const user = await users.findOne({ email_key: email });
  if (user === null || !(await verify(user.password_hash, password))) throw new Error('wrong');
  const [at, sessionId, nonce, kid] = [new Date(), randomUUID(), randomBytes(32), refreshTokens.currentKid];
  const later = (days: number) => new Date(at.getTime() + days * 86_400_000);
  const session: SessionDocument = {
    ...newSessionDocument(),
    ...{ _id: sessionId, user_id: user._id, nonce: new Binary(nonce), kid },
    token: refreshTokenHash(refreshTokens.issue({ kid, sessionId, generation: 1 }, nonce)),
    claims: { home_group_id: user.home_group_id, account_type: user.account_type, ver: 1 },
    ...{ expires_at: later(30), absolute_expires_at: later(180) },
  };
  await mongo.withSession((transaction) =>
    transaction.withTransaction(async () => {
      await users.updateOne({ _id: user._id }, { $set: { last_login_at: at } }, { session: transaction });
      await sessions.insertOne(session, { session: transaction });
    }),
  );
  res.json({ data: tokensOf(session) });
});

app.get('/api/v1/auth/sessions', async (req, res) => {
  const { user_id, sid } = await callerOf(req);
  await denyList.peek([sid]);
  res.json({ data: { sessions: await sessions.find({ user_id, is_revoked: false }).toArray() } });
});

app.post('/api/v1/auth/refresh', async (req, res) => {
  const { refresh_token: sent } = req.body;
  const seen = await sessions.findOne({ _id: refreshTokens.parse(sent)?.sessionId ?? '' });
  if (seen === null || !refreshTokens.isGenuine(sent, Buffer.from(seen.nonce.value()))) throw new Error('no session');
  const next = { ...seen, gen: seen.gen + 1, parent: seen.gen, last_used_at: new Date() };
  const { gen, parent, last_used_at } = next;
  const filter = { _id: seen._id, token: refreshTokenHash(sent), is_revoked: false };
  const rotation = { gen, parent, last_used_at, token: refreshTokenHash(refreshTokenOf(next)) };
  const { matchedCount } = await sessions.updateOne(filter, { $set: rotation });
  if (matchedCount === 0) throw new Error('no session');
  res.json({ data: tokensOf(next) });
});

app.post('/api/v1/auth/logout', async (req, res) => {
  const { user_id } = await callerOf(req);
  const parts = refreshTokens.parse(req.body.refresh_token);
  const filter = { _id: parts?.sessionId ?? '', user_id, is_revoked: false };
  const session = await sessions.findOneAndUpdate(filter, { $set: { is_revoked: true, revoked_at: new Date() } });
  if (session === null) throw new Error('no session');
  const denial = { kind: 'revoked', reason: 'LOGOUT_CONFIRMED' } as const;
  await denyList.denyAndClose([{ sessionId: session._id, denial, requestId: 'bare', decidedAt: Date.now() }]);
  res.json({ data: { message: 'SESSION_TERMINATED' } });
});

function refreshTokenOf({ _id: sessionId, kid, gen, nonce }: SessionDocument): string {
  return refreshTokens.issue({ kid, sessionId, generation: gen }, Buffer.from(nonce.value()));
}

function tokensOf(session: SessionDocument) {
  const { _id: sid, user_id, claims, device_id } = session;
  const access_token = sign({ user_id, ...claims, sid, device_id });
  return { access_token, refresh_token: refreshTokenOf(session), session_id: sid, user_id };
}

await mongo.connect();
const server = app.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as { port: number }).port, msg: 'api listens' }));
});

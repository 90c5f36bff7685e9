import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { MongoClient } from 'mongodb';
import { Provider } from 'oidc-provider';

// The part of the api's work that oidc-provider offers, which is refresh with rotation, the session read (userinfo) and
// logout (revocation). It stores data through an adapter; this one follows its examples, with writes that a majority
// has on disk.
const { MONGODB_URI, MONGODB_DATABASE } = process.env;
const client = new MongoClient(MONGODB_URI, { writeConcern: { w: 'majority' } });
await client.connect();
const db = client.db(MONGODB_DATABASE);
for (const name of ['RefreshToken', 'AccessToken', 'Grant']) {
  await db.collection(name).createIndex({ 'payload.grantId': 1 });
  await db.collection(name).createIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
}

const adapter = (name) => {
  const collection = db.collection(name);
  const find = async (filter) => {
    const found = await collection.findOne(filter, { projection: { payload: 1 } });
    return found === null ? undefined : found.payload;
  };
  return {
    async upsert(_id, payload, expiresIn) {
      const expiresAt = expiresIn ? { expiresAt: new Date(Date.now() + expiresIn * 1_000) } : {};
      await collection.updateOne({ _id }, { $set: { payload, ...expiresAt } }, { upsert: true });
    },
    find: (_id) => find({ _id }),
    findByUid: (uid) => find({ 'payload.uid': uid }),
    findByUserCode: (userCode) => find({ 'payload.userCode': userCode }),
    async consume(_id) {
      await collection.findOneAndUpdate({ _id }, { $set: { 'payload.consumed': Math.floor(Date.now() / 1_000) } });
    },
    async destroy(_id) {
      await collection.deleteOne({ _id });
    },
    async revokeByGrantId(grantId) {
      await collection.deleteMany({ 'payload.grantId': grantId });
    },
  };
};

const signingKey = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
const provider = new Provider('http://127.0.0.1', {
  adapter,
  jwks: { keys: [{ ...signingKey, alg: 'EdDSA', use: 'sig', kid: 'bench' }] },
  clients: [
    {
      client_id: 'app',
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: 'EdDSA',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['https://app.example.com/back'],
    },
  ],
  clientAuthMethods: ['none'],
  enabledJWA: { idTokenSigningAlgValues: ['EdDSA'] },
  features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
  rotateRefreshToken: true,
  findAccount: (_ctx, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  cookies: { keys: [randomUUID()] },
});

async function newSession() {
  const [accountId, app] = [randomUUID(), await provider.Client.find('app')];
  const grant = new provider.Grant({ accountId, clientId: 'app' });
  grant.addOIDCScope('openid offline_access');
  const grantId = await grant.save();
  const common = { accountId, client: app, grantId, gty: 'authorization_code', scope: 'openid offline_access' };
  const authTime = Math.floor(Date.now() / 1_000);
  const refreshToken = await new provider.RefreshToken({ ...common, authTime }).save();
  const accessToken = await new provider.AccessToken({ ...common, claims: {} }).save();
  return { refreshToken, headers: { Authorization: `Bearer ${accessToken}` } };
}

const handle = provider.callback();
const server = createServer((req, res) => {
  const answered = req.url.startsWith('/seed/') ? seed(req, res) : handle(req, res);
  answered.catch((error) => res.writeHead(500).end(error.stack));
});

async function seed(req, res) {
  const { count } = await json(req);
  const made = [];
  while (made.length < count) {
    made.push(...(await Promise.all(Array.from({ length: Math.min(50, count - made.length) }, newSession))));
  }
  res.end(JSON.stringify({ data: made }));
}

server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ listening: server.address().port })));

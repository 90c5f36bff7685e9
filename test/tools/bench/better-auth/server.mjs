import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { hash, verify } from '@node-rs/argon2';
import { betterAuth } from 'better-auth';
import { mongodbAdapter } from 'better-auth/adapters/mongodb';
import { toNodeHandler } from 'better-auth/node';
import { MongoClient } from 'mongodb';

// The api's work on better-auth, with the same hash, with transactions, and with writes that a majority has on disk.
// The package is a separate install at exact versions. It stays at 1.7.7, because later versions need parts that the
// registry did not have.
const { MONGODB_URI, MONGODB_DATABASE, PASSWORD_HASH } = process.env;
const secret = randomUUID();
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const client = new MongoClient(MONGODB_URI, { writeConcern: { w: 'majority' } });
await client.connect();
const db = client.db(MONGODB_DATABASE);
// better-auth creates no indexes itself, but its queries need these.
await db.collection('user').createIndex({ email: 1 }, { unique: true });
await db.collection('account').createIndex({ userId: 1 });
await db.collection('session').createIndex({ token: 1 }, { unique: true });
await db.collection('session').createIndex({ userId: 1 });

const auth = betterAuth({
  baseURL: 'http://127.0.0.1',
  secret,
  database: mongodbAdapter(db, { client }),
  emailAndPassword: {
    enabled: true,
    // A registration of the api opens no session either.
    autoSignIn: false,
    password: { hash: (password) => hash(password, cost), verify: ({ hash, password }) => verify(hash, password) },
  },
  // Without `disableRefresh` each read writes the session, like a refresh.
  session: { updateAge: 0 },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { disabled: true },
});
const { internalAdapter } = await auth.$context;

async function newUser() {
  const email = `cook-${randomUUID()}@example.com`;
  const user = await internalAdapter.createUser({ email, name: 'Cook', emailVerified: false });
  return { email, userId: user.id };
}

const seeds = {
  async accounts() {
    const { email, userId } = await newUser();
    await internalAdapter.linkAccount({
      ...{ userId, providerId: 'credential', accountId: userId },
      password: PASSWORD_HASH,
    });
    return { email };
  },
  async sessions() {
    const { token } = await internalAdapter.createSession((await newUser()).userId);
    const signature = createHmac('sha256', secret).update(token).digest('base64');
    return { headers: { Cookie: `better-auth.session_token=${encodeURIComponent(`${token}.${signature}`)}` } };
  },
};

const handle = toNodeHandler(auth);
const server = createServer((req, res) => {
  const answered = req.url.startsWith('/seed/') ? seed(req, res) : handle(req, res);
  answered.catch((error) => res.writeHead(500).end(error.stack));
});

async function seed(req, res) {
  const { count } = await json(req);
  const make = seeds[req.url.slice('/seed/'.length)];
  const made = [];
  while (made.length < count) {
    made.push(...(await Promise.all(Array.from({ length: Math.min(50, count - made.length) }, make))));
  }
  res.setHeader('Content-Type', 'application/json').end(JSON.stringify(made));
}

server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ listening: server.address().port })));

import { randomBytes, randomUUID } from 'node:crypto';
import { json } from 'node:stream/consumers';
import { hash } from '@node-rs/bcrypt';
import express from 'express';
import { MongoClient } from 'mongodb';
import { ParseServer } from 'parse-server';

// The api's work on Parse Server. Its hash is always bcrypt with cost 10, and a registration always opens a session.
// Its writes are as durable as the api's.
const { MONGODB_URI, MONGODB_DATABASE, PASSWORD } = process.env;
const uri = new URL(MONGODB_URI);
uri.pathname = `/${MONGODB_DATABASE}`;
uri.searchParams.set('w', 'majority');
const parse = new ParseServer({
  databaseURI: uri.href,
  appId: 'bench',
  masterKey: randomUUID(),
  serverURL: 'http://127.0.0.1/parse',
  silent: true,
  logLevel: 'error',
  logsFolder: null,
});
await parse.start();
const client = new MongoClient(uri.href);
const db = client.db();
// Parse Server does not create this index itself, but each of its requests needs it.
await db.collection('_Session').createIndex({ _session_token: 1 });
const passwordHash = await hash(PASSWORD, 10);

const newId = () => randomBytes(8).toString('base64url').slice(0, 10);
const later = (days) => new Date(Date.now() + days * 86_400_000);

function newUser() {
  const [_id, email] = [newId(), `cook-${randomUUID()}@example.com`];
  const times = { _created_at: new Date(), _updated_at: new Date() };
  const access = { _rperm: ['*', _id], _wperm: [_id], _acl: { [_id]: { r: true, w: true }, '*': { r: true } } };
  return { _id, username: email, email, _hashed_password: passwordHash, ...access, ...times };
}

function newSession({ _id }) {
  const times = { expiresAt: later(365), _created_at: new Date(), _updated_at: new Date() };
  const createdWith = { action: 'login', authProvider: 'password' };
  const token = `r:${randomBytes(16).toString('hex')}`;
  return { _id: newId(), _session_token: token, _p_user: `_User$${_id}`, createdWith, restricted: false, ...times };
}

const app = express();
app.post('/seed/:kind', async (req, res) => {
  const { count } = await json(req);
  const users = Array.from({ length: count }, newUser);
  await db.collection('_User').insertMany(users);
  if (req.params.kind === 'accounts') {
    res.json({ data: users.map(({ email }) => ({ email })) });
    return;
  }
  const sessions = users.map(newSession);
  await db.collection('_Session').insertMany(sessions);
  res.json({ data: sessions.map(({ _session_token }) => ({ headers: { 'X-Parse-Session-Token': _session_token } })) });
});
app.use('/parse', parse.app);
const server = app.listen(0, '127.0.0.1', async () => {
  const { port } = server.address();
  // Parse Server learns the fields of sessions when it first opens one itself. Without that it would not find seeded
  // sessions.
  const username = `first-${randomUUID()}`;
  const headers = { 'Content-Type': 'application/json', 'X-Parse-Application-Id': 'bench' };
  const first = { method: 'POST', headers, body: JSON.stringify({ username, password: PASSWORD }) };
  const { status } = await fetch(`http://127.0.0.1:${port}/parse/users`, first);
  if (status !== 201) throw new Error(`the first user was answered ${status}`);
  console.log(JSON.stringify({ listening: port }));
});

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Redis } from 'ioredis';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { WebSocketServer } from 'ws';

// The push gateway's work on ws, with the same tokens, deny list, groups, commands and messages.
const { REDIS_URL, KEY_PREFIX, ACCESS_TOKEN_KEYS_FILE } = process.env;
const tag = `{${KEY_PREFIX}}`;
const keys = JSON.parse(await readFile(ACCESS_TOKEN_KEYS_FILE, 'utf8'));
const jwks = createLocalJWKSet({ keys: keys.keys.map(({ d, ...publicKey }) => publicKey) });
const verification = { issuer: 'https://auth.local', audience: 'food-storage', algorithms: ['ES256'] };
const redis = new Redis(REDIS_URL);
const subscription = new Redis(REDIS_URL);
const sessions = new Map();
const groups = new Map();

const server = createServer((_request, response) => response.writeHead(404).end());
const wss = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 16 * 1024 });

server.on('upgrade', (request, socket, head) => {
  accept(request, socket, head).catch(() => socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n'));
});

async function accept(request, socket, head) {
  const token = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
  const { payload } = await jwtVerify(token, jwks, verification);
  const { sid, home_group_id: group } = payload;
  if (request.url !== `/ws/push-stream/${sid}`) throw new Error('another session');
  if ((await redis.get(`${tag}:denied:${sid}`)) !== null) throw new Error('denied');
  wss.handleUpgrade(request, socket, head, (stream) => open(stream, sid, group));
}

function open(stream, sid, group) {
  sessions.set(sid, stream);
  const members = groups.get(group) ?? new Set();
  groups.set(group, members.add(stream));
  stream.on('error', () => stream.terminate());
  stream.on('close', () => {
    if (sessions.get(sid) === stream) sessions.delete(sid);
    members.delete(stream);
    if (members.size === 0) groups.delete(group);
  });
  stream.send(JSON.stringify({ type: 'hello', session_id: sid }));
}

setInterval(() => {
  for (const stream of sessions.values()) stream.ping();
}, 25_000);

subscription.on('message', (channel, text) => {
  const message = JSON.parse(text);
  if (channel === `${tag}:commands`) {
    if (message.type === 'close') sessions.get(message.session_id)?.close(1000, message.reason);
    return;
  }
  const { home_group_id, ...content } = message;
  const frame = JSON.stringify({ type: 'message', ...content });
  for (const stream of groups.get(home_group_id) ?? []) stream.send(frame);
});
await subscription.subscribe(`${tag}:commands`, `${tag}:messages`);

server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  console.log(JSON.stringify({ listening: server.address().port }));
});

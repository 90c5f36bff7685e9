import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createAdapter } from '@socket.io/redis-adapter';
import { Redis } from 'ioredis';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { Server } from 'socket.io';

// The push gateway's work on socket.io, with the same tokens and deny list. It uses rooms for sessions and groups, and
// socket.io's Redis adapter for commands and messages.
const { REDIS_URL, KEY_PREFIX, ACCESS_TOKEN_KEYS_FILE } = process.env;
const keys = JSON.parse(await readFile(ACCESS_TOKEN_KEYS_FILE, 'utf8'));
const jwks = createLocalJWKSet({ keys: keys.keys.map(({ d, ...publicKey }) => publicKey) });
const verification = { issuer: 'https://auth.local', audience: 'food-storage', algorithms: ['ES256'] };
const redis = new Redis(REDIS_URL);
const subscription = new Redis(REDIS_URL);

const server = createServer();
const io = new Server(server, {
  transports: ['websocket'],
  serveClient: false,
  adapter: createAdapter(redis, subscription),
  maxHttpBufferSize: 16 * 1024,
});

io.use((socket, next) => {
  authorize(socket).then(() => next(), next);
});

async function authorize(socket) {
  const token = socket.handshake.headers.authorization?.replace(/^Bearer /, '') ?? '';
  const { payload } = await jwtVerify(token, jwks, verification);
  if ((await redis.get(`{${KEY_PREFIX}}:denied:${payload.sid}`)) !== null) throw new Error('denied');
  socket.data = { sid: payload.sid, group: payload.home_group_id };
}

io.on('connection', (socket) => {
  const { sid, group } = socket.data;
  socket.join([`session:${sid}`, `group:${group}`]);
  socket.emit('hello', { session_id: sid });
  // To save memory, socket.io's documentation recommends to drop the request of the handshake.
  socket.conn.request = null;
});

server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
  console.log(JSON.stringify({ listening: server.address().port }));
});

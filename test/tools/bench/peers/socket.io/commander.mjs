import { Emitter } from '@socket.io/redis-emitter';
import { Redis } from 'ioredis';

// Another service, which closes sessions and writes to groups through socket.io's own emitter, as the benchmark orders.
const emitter = new Emitter(new Redis(process.env.REDIS_URL));
const now = () => Number(process.hrtime.bigint()) / 1e6;

process.on('message', ({ id, close, broadcast, payload }) => {
  const at = now();
  if (close !== undefined) emitter.in(`session:${close}`).disconnectSockets(true);
  if (broadcast !== undefined) emitter.to(`group:${broadcast}`).emit('message', payload);
  process.send({ id, at });
});
process.send({ ready: true });

import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Whether a Redis on this port takes commands. One that still reads its append-only file says `-LOADING`, which is no;
 * one that wants a password is up. A plain socket does: a client library would keep its timers for seconds after the
 * question.
 */
export async function answersPing(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port, timeout: 1_000 });
  socket.on('timeout', () => socket.destroy(new Error('timeout')));
  try {
    await once(socket, 'connect');
    socket.write('PING\r\n');
    const [answer] = await once(socket, 'data');
    return /^(\+PONG|-NOAUTH)/.test(String(answer));
  } catch {
    // Refused, reset or silent: not up yet. The caller asks again and knows when to give up.
    return false;
  } finally {
    socket.destroy();
  }
}

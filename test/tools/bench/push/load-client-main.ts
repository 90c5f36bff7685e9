import { readFileSync } from 'node:fs';
import { bearer } from '../../../support/api/api-driver.ts';
import { openSocket } from '../../../support/gateway/raw-connection.ts';
import {
  clientFrame,
  findFrames,
  handshakeRequest,
  opcodes,
  readFrames,
} from '../../../support/gateway/websocket-wire.ts';
import type { ClientOrder, ClientReport, ClientSettings } from './load-client-protocol.ts';
import type { BenchSession } from './mint-sessions.ts';
import { monotonicNow } from './monotonic-now.ts';

/**
 * Process of the load client. It opens streams on bare TCP sockets, answers pings, and reports when streams are open,
 * are closed or have received messages. A library would need several times the memory and CPU, which the server on the
 * same machine would lack.
 */
const settings = JSON.parse(process.argv[2] ?? '{}') as ClientSettings;
const sessions = JSON.parse(readFileSync(settings.sessions, 'utf8')) as BenchSession[];

/** Number of the client's IP addresses, each of which has about 28,000 ports. */
const addressCount = 8;
const nothing = Buffer.alloc(0);

let messageTimes: number[] = [];
let awaitedMessages = Number.POSITIVE_INFINITY;

function report(message: ClientReport): void {
  process.send?.(message);
}

function countMessage(): void {
  messageTimes.push(monotonicNow());
  if (messageTimes.length < awaitedMessages) return;
  report({ kind: 'messages', times: messageTimes });
  awaitedMessages = Number.POSITIVE_INFINITY;
}

function sessionAt(index: number): BenchSession {
  const session = sessions[index];
  if (session === undefined) throw new RangeError(`there is no session ${index}`);
  return session;
}

/** Opens a stream, and resolves when it is ready. Its end is reported from then on. */
function openStream(index: number, port: number): Promise<void> {
  const { sessionId, token } = sessionAt(index);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const localAddress = `127.${settings.network}.0.${1 + (index % addressCount)}`;
  const socket = openSocket(port, { localAddress });
  let rest = nothing;
  let isUpgraded = false;
  let isReady = false;
  let isOver = false;

  function end(code: number, why: string): void {
    if (isOver) return;
    isOver = true;
    if (isReady) report({ kind: 'closed', index, at: monotonicNow(), code });
    else reject(new Error(why));
  }

  function onFrame(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.close) {
      end(payload.length < 2 ? 1005 : payload.readUInt16BE(), 'closed before it was ready');
      socket.end(clientFrame(opcodes.close, payload.subarray(0, 2)));
    } else if (opcode === opcodes.ping) {
      socket.write(clientFrame(opcodes.pong, payload));
    } else if (opcode === opcodes.text) {
      onText(payload.toString());
    }
  }

  function onText(text: string): void {
    if (text.startsWith('{"type":"hello"')) {
      isReady = true;
      resolve();
    } else if (text.startsWith('{"type":"message"')) {
      countMessage();
    }
  }

  function takeAnswer(bytes: Buffer): Buffer | undefined {
    const start = findFrames(bytes);
    if (start === undefined) return undefined;
    isUpgraded = true;
    return bytes.subarray(start);
  }

  socket.write(handshakeRequest(`/ws/push-stream/${sessionId}`, bearer(token)));
  socket.on('data', (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    try {
      const frames = isUpgraded ? bytes : takeAnswer(bytes);
      const left = frames === undefined ? bytes : readFrames(frames, onFrame);
      rest = left.length === 0 ? nothing : Buffer.from(left);
    } catch (error) {
      end(0, (error as Error).message);
      socket.destroy();
    }
  });
  socket.on('error', (error) => end(1006, error.message));
  socket.on('close', () => end(1006, 'lost before it was ready'));
  return promise;
}

async function open({ port, from, to, inFlight }: Extract<ClientOrder, { kind: 'open' }>): Promise<void> {
  const begunAt = monotonicNow();
  let next = from;
  let failed = 0;
  let firstError: string | undefined;
  const lane = async () => {
    while (next < to) {
      const index = next;
      next += 1;
      try {
        await openStream(index, port);
      } catch (error) {
        failed += 1;
        firstError ??= (error as Error).message;
      }
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  report({ kind: 'opened', opened: to - from - failed, failed, firstError, begunAt, endedAt: monotonicNow() });
}

process.on('message', (order: ClientOrder) => {
  if (order.kind === 'open') {
    void open(order);
    return;
  }
  messageTimes = [];
  awaitedMessages = order.count;
  report({ kind: 'awaiting' });
});
process.on('disconnect', () => process.exit());
report({ kind: 'started' });

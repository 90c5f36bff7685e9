import { handshakeText, openSocket } from '../../../support/gateway/raw-connection.ts';
import { clientFrame, findFrames, opcodes, readFrames } from '../../../support/gateway/websocket-wire.ts';
import { answerCalls } from '../../process-calls/answer-calls.ts';
import { runAtOnce } from '../concurrent-load.ts';
import { monotonicNow } from '../report/figures.ts';

/** A session to open, with what an app has after its login. */
export interface BenchSession {
  readonly sessionId: string;
  readonly token: string;
}

export interface OpenOrder {
  readonly port: number;
  readonly sessions: readonly BenchSession[];
  /** Index of the first session. The others follow. */
  readonly from: number;
  readonly inFlight: number;
}

interface StreamEnd {
  readonly at: number;
  readonly code: number;
}

/** Number of the client's IP addresses, each of which has about 28,000 ports. */
const addressCount = 16;
const nothing = Buffer.alloc(0);

/** Ends of streams that `closed` has not returned yet, and what waits for ends that have not come. */
const ended = new Map<number, StreamEnd>();
const awaited = new Map<number, (end: StreamEnd) => void>();
let messages = { times: [] as number[], count: Number.POSITIVE_INFINITY, done: Promise.withResolvers<number[]>() };

function noteEnd(index: number, end: StreamEnd): void {
  const resolve = awaited.get(index);
  awaited.delete(index);
  if (resolve === undefined) ended.set(index, end);
  else resolve(end);
}

function countMessage(): void {
  messages.times.push(monotonicNow());
  if (messages.times.length === messages.count) messages.done.resolve(messages.times);
}

/** Opens a stream, and resolves when it is ready. Its end is noted from then on. */
function openStream(index: number, session: BenchSession, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = openSocket(port, { localAddress: `127.1.0.${1 + (index % addressCount)}` });
  let rest = nothing;
  let isUpgraded = false;
  let isReady = false;
  let isOver = false;

  function end(code: number, why: string): void {
    if (isOver) return;
    isOver = true;
    if (isReady) noteEnd(index, { at: monotonicNow(), code });
    else reject(new Error(why));
  }

  function onFrame(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.close) {
      end(payload.length < 2 ? 1005 : payload.readUInt16BE(), 'closed before it was ready');
      socket.end(clientFrame(opcodes.close, payload.subarray(0, 2)));
    } else if (opcode === opcodes.ping) {
      socket.write(clientFrame(opcodes.pong, payload));
    } else if (payload.indexOf('{"type":"hello"') === 0) {
      isReady = true;
      resolve();
    } else if (payload.indexOf('{"type":"message"') === 0) {
      countMessage();
    }
  }

  /** Returns the bytes that are not read yet. */
  function read(bytes: Buffer): Buffer {
    if (isUpgraded) return readFrames(bytes, onFrame);
    const start = findFrames(bytes);
    if (start === undefined) return bytes;
    isUpgraded = true;
    return readFrames(bytes.subarray(start), onFrame);
  }

  socket.write(handshakeText(session));
  socket.on('data', (chunk: Buffer) => {
    try {
      const left = read(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]));
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

/**
 * A client that holds many streams, on bare TCP sockets, and answers pings. A library would need several times the
 * memory and CPU, which the server on the same machine would lack. Times are from `monotonicNow`.
 */
const calls = {
  /** Opens the streams of these sessions, `inFlight` at once. Throws if one fails. */
  async open({ port, sessions, from, inFlight }: OpenOrder) {
    const begunAt = monotonicNow();
    await runAtOnce({ count: sessions.length, atOnce: inFlight }, (index) =>
      openStream(from + index, sessions[index] as BenchSession, port),
    );
    return { begunAt, endedAt: monotonicNow() };
  },
  /** Returns the end of a session's stream, once, when it has come. */
  closed(index: number): StreamEnd | Promise<StreamEnd> {
    const end = ended.get(index);
    ended.delete(index);
    return end ?? new Promise((resolve) => awaited.set(index, resolve));
  },
  /** Begins to count messages, `count` of which `messageTimes` waits for. */
  awaitMessages(count: number): void {
    messages = { times: [], count, done: Promise.withResolvers() };
  },
  messageTimes: (): Promise<number[]> => messages.done.promise,
  /** Returns the number of ends that nobody has asked for. */
  lost: () => ended.size,
};

export type LoadClientCalls = typeof calls;
answerCalls(calls);

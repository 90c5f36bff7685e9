import { setTimeout as delay } from 'node:timers/promises';
import { handshakeText, openSocket } from '../../../support/gateway/raw-connection.ts';
import { clientFrame, findFrames, opcodes, readFrames } from '../../../support/gateway/websocket-wire.ts';
import { answerCalls } from '../../process-calls/answer-calls.ts';
import { runAtOnce } from '../concurrent-load.ts';
import { monotonicNow, percentilesOf } from '../report/figures.ts';

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

/** Time for a handshake and its `hello` of a stream that comes back, in milliseconds: that of the client library. */
const handshakeMs = 15_000;
const retryMs = 200;
/** Longest pause of the client library before it tries again, in milliseconds. */
const maxPauseMs = 30_000;

/** Ends of streams that `closed` has not returned yet, and what waits for ends that have not come. */
const ended = new Map<number, StreamEnd>();
const awaited = new Map<number, (end: StreamEnd) => void>();
/** Milliseconds from each message's publication to its frame, if they are recorded. */
let delays: number[] | undefined;
const sentAt = '"at":';
let messages = { times: [] as number[], count: Number.POSITIVE_INFINITY, done: Promise.withResolvers<number[]>() };

/** The port to which ended streams come back, and what became of them; undefined while they stay away. */
let returning: { readonly port: number; readonly times: number[]; refused: number; noticed: number } | undefined;

function noteEnd(index: number, end: StreamEnd): void {
  const resolve = awaited.get(index);
  awaited.delete(index);
  if (resolve === undefined) ended.set(index, end);
  else resolve(end);
}

function countMessage(payload: Buffer): void {
  const now = monotonicNow();
  delays?.push(now - Number.parseFloat(payload.toString('latin1', payload.indexOf(sentAt) + sentAt.length)));
  messages.times.push(now);
  if (messages.times.length === messages.count) messages.done.resolve(messages.times);
}

/** Opens the stream again after a pause, as the client library does (docs/push.md, "Close codes"). */
function comeBack(index: number, session: BenchSession, afterMs: number | undefined, tries = 0): void {
  const pauseMs = afterMs ?? Math.random() * Math.min(maxPauseMs, 1_000 * 2 ** tries);
  setTimeout(() => {
    if (returning === undefined) return;
    const { times, port } = returning;
    openStream(index, session, port, handshakeMs).then(
      () => times.push(monotonicNow()),
      () => {
        if (returning !== undefined) returning.refused += 1;
        comeBack(index, session, undefined, tries + 1);
      },
    );
  }, pauseMs);
}

/**
 * Opens a stream, and resolves when it is ready. Its end is noted from then on. Rejects if that takes longer than
 * `limitMs`.
 */
function openStream(index: number, session: BenchSession, port: number, limitMs = 0): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = openSocket(port, { localAddress: `127.1.0.${1 + (index % addressCount)}` });
  let rest = nothing;
  let isUpgraded = false;
  let isReady = false;
  let isOver = false;
  let backAfterMs: number | undefined;
  const timer = limitMs === 0 ? undefined : setTimeout(() => socket.destroy(new Error('too slow')), limitMs);

  function end(code: number, why: string): void {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    if (!isReady) reject(new Error(why));
    else if (returning === undefined) noteEnd(index, { at: monotonicNow(), code });
    else {
      if (backAfterMs !== undefined) returning.noticed += 1;
      comeBack(index, session, backAfterMs);
    }
  }

  function onFrame(opcode: number, payload: Buffer): void {
    if (opcode === opcodes.close) {
      end(payload.length < 2 ? 1005 : payload.readUInt16BE(), 'closed before it was ready');
      socket.end(clientFrame(opcodes.close, payload.subarray(0, 2)));
    } else if (opcode === opcodes.ping) {
      socket.write(clientFrame(opcodes.pong, payload));
    } else if (payload.indexOf('{"type":"hello"') === 0) {
      isReady = true;
      clearTimeout(timer);
      resolve();
    } else if (payload.indexOf('{"type":"reconnect"') === 0) {
      backAfterMs = JSON.parse(payload.toString()).after_ms;
    } else if (payload.indexOf('{"type":"message"') === 0) {
      countMessage(payload);
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
  /** Opens the streams of these sessions, `inFlight` at once. A handshake that fails is tried again, within limits. */
  async open({ port, sessions, from, inFlight }: OpenOrder) {
    const begunAt = monotonicNow();
    let refused = 0;
    const retry = async ({ message }: Error) => {
      refused += 1;
      if (refused > sessions.length + inFlight) throw new Error(`handshakes keep failing: ${message}`);
      await delay(retryMs);
      return false;
    };
    await runAtOnce({ count: sessions.length, atOnce: inFlight }, async (index) => {
      const open = () => openStream(from + index, sessions[index] as BenchSession, port).then(() => true, retry);
      while (!(await open()));
    });
    return { begunAt, endedAt: monotonicNow(), refused };
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
  /** Begins to record the delays of messages whose payload has their time, `at`. */
  recordDelays(): void {
    delays = [];
  },
  /** Ends the record, and returns the delays' percentiles in milliseconds. */
  delays() {
    const all = percentilesOf(delays ?? []);
    delays = undefined;
    return all;
  },
  /** From now on streams that end come back to this port, until `stayAway`. */
  comeBackTo(port: number): void {
    returning = { port, times: [], refused: 0, noticed: 0 };
  },
  /** Returns how many streams have come back, how many handshakes failed, and how many ends were announced. */
  returned: () => ({
    count: returning?.times.length ?? 0,
    refused: returning?.refused ?? 0,
    noticed: returning?.noticed ?? 0,
  }),
  /** Lets ended streams stay away, and returns the times at which the others came back. */
  stayAway(): readonly number[] {
    const { times = [] } = returning ?? {};
    returning = undefined;
    return times;
  },
  /** Returns the number of ends that nobody has asked for. */
  lost: () => ended.size,
};

export type LoadClientCalls = typeof calls;
answerCalls(calls);

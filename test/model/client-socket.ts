import { closeCodes } from '@auth-account/contracts';
import type { StreamSocket } from '../../libs/client/src/platform/platform.ts';
import { dial } from '../support/gateway/push-client.ts';
import type { Life } from './client-device.ts';
import type { HeardStream, StreamFate, StreamsDeps } from './client-streams.ts';

export interface SocketDeps extends StreamsDeps {
  readonly heard: Set<HeardStream>;
  readonly life: Life;
  readonly url: string;
  readonly token: string;
  readonly fate: StreamFate | undefined;
  readonly onStop: (sessionId: string) => void;
  readonly untilClosed: (stream: HeardStream) => Promise<void>;
}

/** Time that a stream may outlive its token (docs/push.md). */
const graceMs = 30_000;
const lasting: StreamFate = {
  handshake: 'succeeds',
  upMs: 0,
  downMs: 0,
  isClosed: true,
  refusals: 0,
  end: undefined,
};
const refusal = JSON.stringify({ type: 'error', error_code: 'IAD_JWT_ACCESS_INVALID' });
const stopCodes: readonly number[] = [closeCodes.STREAM_REPLACED, closeCodes.SESSION_REPLACED];

/** Simulates the client's side of a stream: decides what reaches the client, and in what order. */
function createEar(
  { time, notify, heard, life, url, observed, onStop }: SocketDeps,
  fate: StreamFate,
  cut: () => void,
) {
  const sessionId = url.split('/').at(-1) ?? '';
  const over = Promise.withResolvers<void>();
  const state = { arrivesAt: 0, isOpen: false, isSevered: false, isSilent: false, isConnected: false };
  const socket: StreamSocket = {
    ...{ onopen: null, onmessage: null, onclose: null, onerror: null, send: () => undefined, close: () => undefined },
  };
  const stream: HeardStream = {
    ...{ sessionId, life, closed: over.promise },
    isOpen: () => state.isOpen,
    isConnected: () => state.isConnected && !state.isSevered,
    sever,
    // The client never hears that a path was cut in silence.
    lose: () => state.isSilent || arrive(() => hearEnd(1006)),
  };

  function sever(): void {
    state.isSevered = true;
    cut();
  }
  function leave(): void {
    life.endings.delete(die);
    heard.delete(stream);
    state.isOpen = false;
  }
  function die(): void {
    leave();
    cut();
  }
  life.endings.add(die);

  /** Does the work after everything sent earlier has reached the client, unless the client no longer listens. */
  function arrive(work: () => void): void {
    time.after(Math.max(state.arrivesAt - time.now(), 0), () => {
      if (heard.has(stream)) notify();
      if (heard.has(stream)) work();
    });
  }
  function hearEnd(code: number): void {
    leave();
    observed.note(`  the stream ${sessionId.slice(-4)} ends: ${code}`);
    observed.count(`stream: ended by ${code}`);
    if (stopCodes.includes(code)) onStop(sessionId);
    socket.onclose?.({ code, reason: '' });
  }
  function hearError(): void {
    socket.onerror?.(undefined as never);
    if (fate.isClosed && heard.has(stream)) hearEnd(1006);
  }
  return { socket, stream, state, over: over.resolve, sever, leave, arrive, hearEnd, hearError };
}

/** Opens a connection to the real gateway. The clock waits while the gateway owes an answer. */
export function openSocket(deps: SocketDeps): { readonly socket: StreamSocket; readonly stream: HeardStream } {
  const { time, network, heard, fate = lasting, observed } = deps;
  let real: RealStream | undefined;
  let { refusals } = fate;
  const ear = createEar(deps, fate, () => real?.terminate());
  const { socket, stream, state, arrive, hearEnd, hearError } = ear;
  const pass = (work: () => void) => arrive(() => state.isSevered || work());

  socket.send = (data) => {
    if (state.isSevered || !state.isOpen) return;
    if (refusals === 0) return real?.send(data);
    refusals -= 1;
    pass(() => hear(refusal));
  };
  socket.close = () => {
    ear.leave();
    real?.close();
  };

  function hear(text: string): void {
    const { type } = JSON.parse(text) as { readonly type: string };
    observed.count(`stream: ${type}`);
    if (type === 'hello') begin();
    socket.onmessage?.({ data: text });
  }

  /** Marks the stream as open, and ends it when `fate` says so. */
  function begin(): void {
    state.isOpen = true;
    if (fate.end === undefined) return;
    const { code, afterMs, reconnectAfterMs } = fate.end;
    time.after(afterMs, () => {
      if (state.isSevered || !heard.has(stream)) return;
      ear.sever();
      if (code === undefined) {
        state.isSilent = true;
        return observed.count('stream: cut in silence');
      }
      if (reconnectAfterMs !== undefined)
        arrive(() => hear(JSON.stringify({ type: 'reconnect', after_ms: reconnectAfterMs })));
      arrive(() => hearEnd(code));
    });
  }

  function onEnd(code: number, wasOpen: boolean): void {
    ear.over();
    if (state.isSevered || !heard.has(stream)) return;
    observed.count(wasOpen ? `stream: closed by the gateway with ${code}` : 'stream: refused by the gateway');
    if (code === closeCodes.STREAM_REPLACED) observed.violations.push('the gateway had two streams of one app');
    pass(wasOpen ? () => hearEnd(code) : hearError);
  }

  time.after(fate.upMs, () => {
    if (!heard.has(stream) || state.isSevered || fate.handshake === 'hangs') return;
    if (!network.isOn || fate.handshake === 'cut') return arrive(hearError);
    state.arrivesAt = time.now() + fate.downMs;
    state.isConnected = true;
    const onDue = async () => (heard.has(stream) ? deps.untilClosed(stream) : undefined);
    real = connect(deps, { onEnd, onDue, onFrame: (text) => pass(() => hear(text)) });
  });
  return { socket, stream };
}

interface RealStream {
  send(data: string): void;
  close(): void;
  terminate(): void;
}

interface RealListener {
  onFrame(text: string): void;
  onEnd(code: number, wasOpen: boolean): void;
  /** Called when the token's time is over, so the gateway must close the stream. */
  onDue(): Promise<void>;
}

function connect({ url, token, time, epoch, observed }: SocketDeps, listener: RealListener): RealStream {
  const real = dial(url, { subprotocols: ['bearer', token] });
  /** Callbacks for the answers that the gateway still owes. The first answer is that to the handshake. */
  const owed: (() => void)[] = [];
  let dueAt = 0;
  let hasHello = false;
  let isOver = false;
  const owe = () => void time.busy(() => new Promise<void>((resolve) => owed.push(resolve)));
  const expect = () => {
    time.after(dueAt - epoch - time.now(), () => {
      if (isOver) return;
      if (dueAt - epoch > time.now()) expect();
      else void time.busy(() => listener.onDue());
    });
  };

  real.on('message', (data) => {
    const text = String(data);
    const { type, expires_at } = JSON.parse(text) as { readonly type: string; readonly expires_at?: string };
    if (expires_at !== undefined) dueAt = Math.ceil(Date.parse(expires_at) / 1_000) * 1_000 + graceMs;
    if (type === 'hello') {
      hasHello = true;
      expect();
    }
    listener.onFrame(text);
    if (type !== 'message') owed.shift()?.();
  });
  real.on('error', ({ message }) => {
    observed.note(`  handshake: ${message}`);
    if (message.endsWith('403')) observed.violations.push('a stream was opened with a token of another session');
  });
  real.on('close', (code) => {
    isOver = true;
    listener.onEnd(code, hasHello);
    for (const settle of owed.splice(0)) settle();
  });
  owe();
  return {
    send(data) {
      if (real.readyState !== real.OPEN) return;
      owe();
      real.send(data);
    },
    close: () => real.close(1000),
    terminate: () => real.terminate(),
  };
}

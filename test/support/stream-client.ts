import { WebSocket } from 'ws';

/** The end of a stream, as the client saw it. */
export interface Closed {
  readonly code: number;
  readonly reason: string;
  /** `performance.now()` at the close frame. */
  readonly at: number;
}

/** A frame of the gateway. */
export type Frame = Readonly<Record<string, unknown>>;

/** An app's end of a push stream, open and with its `hello` received. */
export interface StreamClient {
  readonly hello: Frame;
  readonly closed: Promise<Closed>;
  isOpen(): boolean;
  /** Returns the next frame after `hello`; each is returned once. */
  next(): Promise<Frame>;
  /** Ends the connection without a close frame. */
  terminate(): void;
}

class LostBeforeHello extends Error {}

/**
 * Opens a stream with the token in the header and waits for `hello`. Throws if the upgrade is refused. Opens it again,
 * as apps do, if it is lost before `hello`: a flaw of uWebSockets.js, which the gateway makes rare (docs/adr/0004).
 */
export async function openStream(url: string, accessToken: string): Promise<StreamClient> {
  const maxLost = 3;
  for (let lost = 0; ; lost += 1) {
    try {
      return await connect(url, accessToken);
    } catch (error) {
      if (!(error instanceof LostBeforeHello) || lost === maxLost) throw error;
    }
  }
}

async function connect(url: string, accessToken: string): Promise<StreamClient> {
  const socket = new WebSocket(url, {
    headers: { Authorization: `Bearer ${accessToken}`, 'X-Request-ID': 'test-stream' },
  });
  const closed = new Promise<Closed>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString(), at: performance.now() }));
  });
  const { next, take } = createFrames();
  socket.on('message', (data) => take(JSON.parse(String(data))));
  const hello = await new Promise<Frame>((resolve, reject) => {
    next().then(resolve, reject);
    socket.once('error', reject);
    closed.then(({ code }) => {
      const what = `closed with ${code} before hello`;
      reject(code === 1006 ? new LostBeforeHello(what) : new Error(what));
    }, reject);
  });
  socket.on('error', () => undefined); // a broken connection shows in `closed`
  const isOpen = () => socket.readyState === WebSocket.OPEN;
  return { hello, closed, isOpen, next, terminate: () => socket.terminate() };
}

/** Creates a queue of frames, which keeps those that nobody has asked for yet. */
function createFrames() {
  const frames: Frame[] = [];
  const waiting: ((frame: Frame) => void)[] = [];
  return {
    take(frame: Frame): void {
      const taker = waiting.shift();
      if (taker) taker(frame);
      else frames.push(frame);
    },
    next(): Promise<Frame> {
      const frame = frames.shift();
      return frame ? Promise.resolve(frame) : new Promise((resolve) => waiting.push(resolve));
    },
  };
}

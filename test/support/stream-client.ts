import { WebSocket } from 'ws';

/** The end of a stream, as the client saw it. */
export interface Closed {
  readonly code: number;
  readonly reason: string;
  /** `performance.now()` at the close frame. */
  readonly at: number;
}

/** An app's end of a push stream, open and with its `hello` received. */
export interface StreamClient {
  readonly hello: Readonly<Record<string, unknown>>;
  readonly closed: Promise<Closed>;
  isOpen(): boolean;
  /** Ends the connection without a close frame. */
  terminate(): void;
}

/** Opens a stream with the token in the header and waits for `hello`. Throws if the upgrade is refused. */
export async function openStream(url: string, accessToken: string): Promise<StreamClient> {
  const socket = new WebSocket(url, {
    headers: { Authorization: `Bearer ${accessToken}`, 'X-Request-ID': 'test-stream' },
  });
  const closed = new Promise<Closed>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString(), at: performance.now() }));
  });
  const hello = await new Promise<Record<string, unknown>>((resolve, reject) => {
    socket.once('message', (data) => resolve(JSON.parse(String(data))));
    socket.once('error', reject);
    closed.then(({ code }) => reject(new Error(`closed with ${code} before hello`)), reject);
  });
  socket.on('error', () => undefined); // a broken connection shows in `closed`
  return { hello, closed, isOpen: () => socket.readyState === WebSocket.OPEN, terminate: () => socket.terminate() };
}

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { bearer, type Session } from './sessions.ts';

/** End of a stream. */
export interface StreamEnd {
  readonly code: number;
  readonly reason: string;
  /** Content of the `reconnect` frame, if one came. */
  readonly afterMs: number | undefined;
  /** Time of the end, by `performance.now()`. */
  readonly at: number;
}

export interface OpenStream {
  readonly ended: Promise<StreamEnd>;
  isOpen(): boolean;
  terminate(): void;
}

/** Part of the handshake that carries the access token. */
export type StreamCredentials = 'header' | 'subprotocol';

/** Opens a push stream and waits for `hello`; throws if the handshake is refused or fails. */
export async function openStream(
  push: string,
  session: Session,
  by: StreamCredentials = 'header',
): Promise<OpenStream> {
  const url = `${push.replace(/^http/, 'ws')}/ws/push-stream/${session.session_id}`;
  const protocols = by === 'subprotocol' ? ['bearer', session.access_token] : [];
  const headers = by === 'header' ? bearer(session) : {};
  const socket = new WebSocket(url, protocols, { headers, perMessageDeflate: false, handshakeTimeout: 10_000 });
  let afterMs: number | undefined;
  const ended = new Promise<StreamEnd>((resolve) => {
    socket.once('close', (code, reason) => {
      resolve({ code, reason: reason.toString(), afterMs, at: performance.now() });
    });
  });
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as { readonly type: string; readonly after_ms?: number };
    if (frame.type === 'reconnect') afterMs = frame.after_ms;
  });
  const gone = ended.then(({ code }) => Promise.reject(new Error(`closed with ${code} before hello`)));
  await Promise.race([once(socket, 'message'), gone]);
  gone.catch(() => undefined); // from here on `ended` reports the end
  socket.on('error', () => undefined); // a broken connection is an end with 1006
  return { ended, isOpen: () => socket.readyState === WebSocket.OPEN, terminate: () => socket.terminate() };
}

import { openStreamAt } from './push-client.ts';

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

/** Opens a stream with the token in the header and waits for `hello`. Throws if the upgrade is refused, or it ends before. */
export async function openStream(url: string, accessToken: string): Promise<StreamClient> {
  const headers = { 'X-Request-ID': 'test-stream' };
  const { socket, closed, isOpen, next } = await openStreamAt(url, { token: accessToken, headers });
  const gone = closed.then(({ code }) => Promise.reject(new Error(`closed with ${code} before hello`)));
  const hello = await Promise.race([next(), gone]);
  return {
    hello,
    closed: closed.then((end) => ({ ...end, at: performance.now() })),
    isOpen,
    next,
    terminate: () => socket.terminate(),
  };
}

import { openRawStream, type RawHandshake } from '../gateway/raw-connection.ts';

/** The moments of a drain as an app saw them, in `performance.now()`. */
export interface Move {
  /** Time of the close frame. */
  readonly closedAt: number;
  readonly closeCode: number;
  /** The pause that the `reconnect` frame before the close frame demands. */
  readonly afterMs: number;
  /** Time at which the app connected to the other gateway. */
  readonly arrivedAt: number;
  /** Status of the other gateway's answer. */
  readonly status: number;
}

export interface ObedientApp {
  /** Settles when the app has moved. */
  readonly moved: Promise<Move>;
  close(): void;
}

/**
 * Opens a stream on the first gateway. After a `reconnect` frame, the app waits for the given time and connects to the
 * second.
 */
export async function startObedientApp(first: string, second: string, handshake: RawHandshake): Promise<ObedientApp> {
  const frames: { readonly opcode: number; readonly payload: Buffer; readonly at: number }[] = [];
  const stream = openRawStream(first, handshake, (frame) => frames.push({ ...frame, at: performance.now() }));
  let last = stream.socket;
  const status = await stream.status;
  if (status !== 101) throw new Error(`the first gateway answered ${status}`);

  async function move(): Promise<Move> {
    await stream.ended;
    const [announced, closed] = frames.slice(-2);
    const frame = JSON.parse(announced?.payload.toString() ?? '{}') as { type?: string; after_ms?: number };
    if (frame.type !== 'reconnect' || closed?.opcode !== 8)
      throw new Error('the stream ended without a reconnect frame');
    const afterMs = frame.after_ms ?? Number.NaN;
    const wait = Math.max(0, (announced?.at ?? 0) + afterMs - performance.now());
    await new Promise((resolve) => setTimeout(resolve, wait));
    const arrivedAt = performance.now();
    const next = openRawStream(second, handshake);
    last = next.socket;
    const closeCode = closed.payload.readUInt16BE();
    return { closedAt: closed.at, closeCode, afterMs, arrivedAt, status: await next.status };
  }

  return { moved: move(), close: () => last.destroy() };
}

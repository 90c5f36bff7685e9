import { openRawStream, type RawHandshake } from '../gateway/raw-connection.ts';

export type ObedientApp = Awaited<ReturnType<typeof startObedientApp>>;
export type Move = Awaited<ObedientApp['moved']>;

/**
 * Opens a stream on the first gateway. After a `reconnect` frame, the app waits for the given time and connects to the
 * second. `moved` settles when it has.
 */
export async function startObedientApp(first: string, second: string, handshake: RawHandshake) {
  const frames: { readonly opcode: number; readonly payload: Buffer; readonly at: number }[] = [];
  const stream = openRawStream(first, handshake, (frame) => frames.push({ ...frame, at: performance.now() }));
  let last = stream.socket;
  const status = await stream.status;
  if (status !== 101) throw new Error(`the first gateway answered ${status}`);

  /** Returns the moments of the drain as the app saw them, in `performance.now()`. */
  async function move() {
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

import { HelloFrame } from '@auth-account/contracts';
import { WebSocket } from 'ws';
import { expectShape, reasonOf } from './api-client.ts';
import { ProbeFailure } from './step-log.ts';
import { type Patience, within } from './within.ts';

/** End of a stream. */
export interface StreamEnd {
  readonly code: number;
  readonly reason: string;
  /** `performance.now()` at the end of the closing handshake. */
  readonly at: number;
}

/** A push stream that has received hello. */
export interface PushStream {
  readonly hello: HelloFrame;
  readonly ended: Promise<StreamEnd>;
  /** Ends the connection, if it is still open, without a close frame. */
  terminate(): void;
}

export interface StreamRequest {
  readonly url: string;
  readonly accessToken: string;
  readonly requestId: string;
  readonly patience: Patience;
}

const frameLimit = 64 * 1_024;

/** Opens a push stream and waits for `hello`. Throws a `ProbeFailure` if it is refused or sends another frame. */
export async function openPushStream({ url, accessToken, requestId, patience }: StreamRequest): Promise<PushStream> {
  if (!/^wss?:/.test(url) || !URL.canParse(url)) throw new ProbeFailure('the push URL is not a ws:// or wss:// URL');
  const headers = { Authorization: `Bearer ${accessToken}`, 'X-Request-ID': requestId };
  const socket = new WebSocket(url, { headers, perMessageDeflate: false, maxPayload: frameLimit });
  // Without a listener, an error would end the process. With it, the stream ends with 1006.
  socket.on('error', () => undefined);
  const ended = new Promise<StreamEnd>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString(), at: performance.now() }));
  });
  try {
    const frame = await within(patience, () => firstFrame(socket, ended));
    return { hello: expectShape(HelloFrame, frame), ended, terminate: () => socket.terminate() };
  } catch (error) {
    socket.terminate();
    throw error;
  }
}

function firstFrame(socket: WebSocket, ended: Promise<StreamEnd>): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const fail = (fault: string) => reject(new ProbeFailure(fault));
  socket.once('message', (data) => {
    try {
      resolve(JSON.parse(String(data)));
    } catch {
      fail('the first frame is not JSON');
    }
  });
  socket.on('unexpected-response', (_request, answer) => {
    fail(`the handshake was answered ${answer.statusCode}`);
    socket.terminate();
  });
  socket.on('error', (error) => fail(`no stream: ${reasonOf(error)}`));
  void ended.then(({ code, reason }) => fail(`closed with ${code} ${reason} before the first frame`));
  return promise;
}

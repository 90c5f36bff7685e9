import type { ServerFrame } from '@auth-account/contracts';
import { dial } from '../../../support/gateway/push-client.ts';

/** An app's open push stream, whose `hello` the app has received. */
export interface AppStream {
  isOpen(): boolean;
  /** Breaks the connection, as happens when an app is killed. */
  terminate(): void;
}

export interface StreamOptions {
  readonly url: string;
  readonly accessToken: string;
  readonly requestId: string;
  readonly timeoutMs: number;
  /** Called with each frame after the `hello`. */
  readonly onFrame?: (frame: ServerFrame) => void;
  /** Called with the stream's close code, if the stream was open. */
  readonly onClose?: (code: number) => void;
}

/** Opens the stream. Returns the status of a refusal, or undefined if no answer came. */
export function openAppStream(options: StreamOptions): Promise<AppStream | number | undefined> {
  const { url, accessToken, requestId, timeoutMs, onFrame, onClose } = options;
  return new Promise((resolve) => {
    const headers = { 'X-Request-ID': requestId };
    const socket = dial(url, { token: accessToken, headers });
    let isGreeted = false;
    const timer = setTimeout(() => socket.terminate(), timeoutMs);
    socket.on('unexpected-response', (request, response) => {
      response.resume();
      request.destroy();
      clearTimeout(timer);
      resolve(response.statusCode);
    });
    socket.on('message', (data) => {
      if (isGreeted) {
        onFrame?.(JSON.parse(String(data)));
        return;
      }
      isGreeted = true;
      clearTimeout(timer);
      resolve({ isOpen: () => socket.readyState === socket.OPEN, terminate: () => socket.terminate() });
    });
    socket.on('error', () => undefined); // its close event follows
    socket.on('close', (code) => {
      clearTimeout(timer);
      if (isGreeted) onClose?.(code);
      resolve(undefined);
    });
  });
}

import type { ServerFrame } from '@auth-account/contracts';
import { openGreeted, type StreamClient } from '../../../support/gateway/push-client.ts';

/** An app's open push stream, whose `hello` the app has received. */
export type AppStream = Pick<StreamClient, 'isOpen' | 'terminate'>;

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
export async function openAppStream(options: StreamOptions): Promise<AppStream | number | undefined> {
  const { url, accessToken: token, requestId, timeoutMs: handshakeTimeout, onFrame, onClose } = options;
  const handshake = { token, headers: { 'X-Request-ID': requestId }, handshakeTimeout };
  const stream = await openGreeted(url, handshake, 0).catch((error: Error) => error);
  if (stream instanceof Error) {
    const status = /server response: (\d+)/.exec(stream.message)?.[1];
    return status === undefined ? undefined : Number(status);
  }
  stream.socket.on('message', (data) => onFrame?.(JSON.parse(String(data))));
  stream.socket.on('close', (code) => onClose?.(code));
  return stream;
}

import type { Platform } from '@auth-account/client';
import { WebSocket } from 'ws';

/** Observer of the streams below a client. */
export interface SocketWatch {
  /** Its `hello` has come. */
  onOpen(): void;
  /** It has ended after that, with this code and reason. */
  onClose(end: string): void;
  /** It has ended before. */
  onRefused(why: string): void;
}

/** Returns the WebSocket for a client, which connects to the gateway of this cluster whatever address the api names. */
export function watchSockets(push: string, watch: SocketWatch): NonNullable<Platform['WebSocket']> {
  class WatchedSocket extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(push.replace(/^http/, 'ws') + new URL(url).pathname, protocols, { perMessageDeflate: false });
      let isOpen = false;
      let why: string | undefined;
      this.once('message', () => {
        isOpen = true;
        watch.onOpen();
      });
      this.on('error', ({ message }) => {
        why = message;
      });
      this.on('close', (code, reason) => {
        if (isOpen) watch.onClose(`${code} ${reason}`.trim());
        else watch.onRefused(why ?? `closed with ${code} before hello`);
      });
    }
  }
  return WatchedSocket as unknown as NonNullable<Platform['WebSocket']>;
}

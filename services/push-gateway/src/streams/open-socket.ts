import type { HttpResponse, us_socket_context_t, WebSocket } from 'uWebSockets.js';
import type { Connection } from './connection.ts';

/** The data that uWebSockets.js keeps per socket. */
export interface SocketData {
  /** Undefined while the handshake is being completed. */
  connection?: Connection;
}

/** The 101 answer and everything that it needs. */
export interface SwitchingProtocols {
  readonly res: HttpResponse;
  readonly context: us_socket_context_t;
  readonly key: string;
  /** Empty if there is no subprotocol. */
  readonly subprotocol: string;
  readonly requestId: string;
}

export interface SocketOpener {
  /** The app's handler of opened sockets. */
  readonly onOpen: (socket: WebSocket<SocketData>) => void;
  /** Called when a socket closes before it has a connection. */
  onLost(): void;
  /** Completes the handshake. Returns false if the socket was lost during it. */
  open(connection: Connection, answer: SwitchingProtocols): boolean;
}

/**
 * Turns a response into a socket some time after its request came.
 *
 * uWebSockets.js has a flaw in such upgrades (uNetworking/uWebSockets pull request 1929; the repack is older). The end
 * of `cork` takes the new socket for the old response if both have the same address. Then it reads the response's state
 * from freed memory, and closes the socket if that memory has been written since. Without `cork` the answer takes 28
 * system calls and three times the CPU time, and prints 28 warnings on stderr. So `cork` stays, and nothing between the
 * upgrade and its end may allocate memory. Therefore both callbacks are native functions, which V8 never compiles; the
 * socket goes into an array, which has no field types to be tracked; and the connection is put into the user data
 * afterwards. A socket that is still lost is counted, and its client sees a lost connection.
 */
export function createSocketOpener(): SocketOpener {
  const opened: (WebSocket<SocketData> | undefined)[] = [undefined];
  return {
    onOpen: Reflect.set.bind(undefined, opened, 0) as SocketOpener['onOpen'],
    onLost() {
      opened[0] = undefined;
    },
    open(connection, { res, context, key, subprotocol, requestId }) {
      res.cork(() => {
        res.writeStatus('101 Switching Protocols').writeHeader('X-Request-ID', requestId);
      });
      // There are no extensions, because compression costs memory for each stream and gains nothing with such small
      // frames.
      res.cork(res.upgrade.bind(res, {}, key, subprotocol, '', context));
      const [socket] = opened;
      opened[0] = undefined;
      if (socket === undefined) return false;
      socket.getUserData().connection = connection;
      connection.socket = socket;
      return true;
    },
  };
}

import type { WebSocket } from 'uWebSockets.js';
import { type CloseReason, closeCodes } from '@auth-account/contracts/push/close-codes';
import type { ServerFrame } from '@auth-account/contracts/push/frames';

/** One push stream. It is a plain record, because there are tens of thousands of them. */
export interface Connection {
  readonly sessionId: string;
  readonly groupId: string;
  /** Of two streams of one session, the stream with the higher number stays. */
  readonly streamNumber: number;
  /** Version of the session's claims in the newest token. */
  ver: number;
  /** Expiry of the newest token, in seconds since the epoch. */
  expiresAt: number;
  /** Undefined before the socket is open and after it has closed, because a closed socket must not be touched. */
  socket: WebSocket<unknown> | undefined;
  /** Reason for which the gateway ended the stream; undefined if the client or the network ended it. */
  endedBy: CloseReason | undefined;
  /** True while an `auth` frame is being handled. */
  isAuthenticating: boolean;
}

/**
 * Bytes that may wait for a client to read them. Above this the client counts as slow and its stream ends. The limit is
 * far below `maxBackpressure`, above which uWebSockets.js would drop the close frame too.
 */
const slowConsumerBytes = 64 * 1024;
export const maxBackpressureBytes = 4 * slowConsumerBytes;

/** Sends a frame, or ends the stream of a client that does not read (4008). Does nothing after the stream's end. */
export function sendFrame(connection: Connection, frame: ServerFrame): void {
  sendText(connection, JSON.stringify(frame));
}

/**
 * Like {@link sendFrame}, with a frame that is encoded already, as text or in UTF-8. Returns false after the stream's
 * end.
 */
export function sendText(connection: Connection, text: string | Buffer): boolean {
  const { socket } = connection;
  if (socket === undefined) return false;
  socket.send(text, false);
  if (socket.getBufferedAmount() > slowConsumerBytes) closeConnection(connection, 'SLOW_CONSUMER');
  return true;
}

/**
 * Ends the stream with the reason's code; nothing is sent after that. The app's close handler runs before this returns.
 * Returns false if the stream had ended already.
 */
export function closeConnection(connection: Connection, reason: CloseReason): boolean {
  const { socket } = connection;
  if (socket === undefined) return false;
  connection.socket = undefined;
  connection.endedBy = reason;
  socket.end(closeCodes[reason], reason);
  return true;
}

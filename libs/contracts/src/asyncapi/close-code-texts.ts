import type { CloseReason } from '../push/close-codes.ts';

/** What the app does after each close and why, in the order in which docs/push.md shows them. */
export const closeCodeTexts: Readonly<Record<CloseReason, string>> = {
  LOGOUT_CONFIRMED: 'logs in: this session was logged out',
  SESSION_REVOKED: 'logs in: ended by another device, an operator or theft',
  TOKEN_EXPIRED: 'refreshes, reconnects. It comes 30 s after the end of the token',
  GROUP_CHANGED: 'refreshes, reconnects: the user is now in another group',
  SESSION_REPLACED:
    "nothing: a newer login on this device has taken over. It may come before that login's answer, and is no logout",
  STREAM_REPLACED: 'stops: another connection of this session has taken over',
  SERVER_DRAINING: 'reconnects as the `reconnect` frame says',
  SLOW_CONSUMER: 'reconnects with jitter, and reads its state again: more than 64 KiB waited for it',
  UNSUPPORTED_DATA: 'error in the app: a binary frame, or text that is none of these frames',
  MESSAGE_TOO_BIG: 'error in the app: a frame of more than 16 KiB',
};

/** The same for every other end: the connection was lost, or the code is none of these. */
export const otherCloseText =
  'reconnects with jitter. 1006: there was no close frame, the connection was lost. Any other code counts as a lost ' +
  'connection: the handshake then says what to do';

/**
 * Close codes of a push stream (docs/push.md, "Close codes"). RFC 6455 defines 1000 to 1009 and leaves 4000 to 4999 to
 * applications.
 */
export const closeCodes = {
  LOGOUT_CONFIRMED: 1000,
  SERVER_DRAINING: 1001,
  UNSUPPORTED_DATA: 1003,
  MESSAGE_TOO_BIG: 1009,
  SESSION_REVOKED: 4001,
  TOKEN_EXPIRED: 4002,
  STREAM_REPLACED: 4003,
  GROUP_CHANGED: 4004,
  SESSION_REPLACED: 4005,
  SLOW_CONSUMER: 4008,
} as const;

/** Reason text of the close frame. Each reason has exactly one code. */
export type CloseReason = keyof typeof closeCodes;

/**
 * Machine-readable reaction of an app to the end of its stream. The compiler can check that a `switch` over it is
 * exhaustive.
 *
 * - `log_in`: the session is over.
 * - `refresh_and_reconnect`: refresh first, then open a new stream.
 * - `reconnect`: open a new stream after a random, growing pause.
 * - `reconnect_after_notice`: open a new stream after the time in the `reconnect` frame that came before the close.
 * - `none`: a newer login on this device has taken over. The app does not log out.
 * - `stop`: another connection of this session has taken over, so open no new one.
 * - `app_error`: the app sent something that is not in the contract. Report it.
 */
export type CloseReaction =
  | 'log_in'
  | 'refresh_and_reconnect'
  | 'reconnect'
  | 'reconnect_after_notice'
  | 'none'
  | 'stop'
  | 'app_error';

/** Reaction to each close reason. */
export const closeReactions = {
  LOGOUT_CONFIRMED: 'log_in',
  SERVER_DRAINING: 'reconnect_after_notice',
  UNSUPPORTED_DATA: 'app_error',
  MESSAGE_TOO_BIG: 'app_error',
  SESSION_REVOKED: 'log_in',
  TOKEN_EXPIRED: 'refresh_and_reconnect',
  STREAM_REPLACED: 'stop',
  GROUP_CHANGED: 'refresh_and_reconnect',
  SESSION_REPLACED: 'none',
  SLOW_CONSUMER: 'reconnect',
} as const satisfies Record<CloseReason, CloseReaction>;

/** Reaction to 1006 after a lost connection, and to every other code that the table lacks. */
export const otherCloseReaction = 'reconnect' satisfies CloseReaction;

const reactionsByCode: ReadonlyMap<number, CloseReaction> = new Map(
  (Object.keys(closeCodes) as CloseReason[]).map((reason) => [closeCodes[reason], closeReactions[reason]]),
);

/** Returns the reaction to the close code that an app's WebSocket reports. */
export function closeReactionOf(code: number): CloseReaction {
  return reactionsByCode.get(code) ?? otherCloseReaction;
}

/** Path of a session's push stream; `{id}` is the session. */
export function pushStreamPath(sessionId: string): string {
  return `/ws/push-stream/${sessionId}`;
}

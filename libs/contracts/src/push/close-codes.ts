/**
 * Close codes of a push stream (decisions, "Push stream"). 1000 to 1009 are RFC 6455's, 4000 to 4999 are for
 * applications.
 *
 * - `LOGOUT_CONFIRMED`, `SESSION_REVOKED`: log in.
 * - `SESSION_REPLACED`: do nothing, a newer login on this device has taken over.
 * - `TOKEN_EXPIRED`, `GROUP_CHANGED`: refresh, reconnect.
 * - `STREAM_REPLACED`: stop, another connection of this session took over.
 * - `SERVER_DRAINING`, `SLOW_CONSUMER`: reconnect with jitter.
 * - `UNSUPPORTED_DATA`, `MESSAGE_TOO_BIG`: the app sent a frame that the contract does not have.
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

/** Reason text of the close frame; each has exactly one code. */
export type CloseReason = keyof typeof closeCodes;

/** Path of a session's push stream; `{id}` is the session. */
export function pushStreamPath(sessionId: string): string {
  return `/ws/push-stream/${sessionId}`;
}

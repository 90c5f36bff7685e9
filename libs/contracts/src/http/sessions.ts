import { Type } from 'typebox';
import { Platform } from './login.ts';
import { Success, Timestamp, Uuid } from './fields.ts';

/** A device that is logged in, as its user sees it in a list; never a token. */
export const SessionSummary = Type.Object({
  session_id: Uuid,
  device_id: Uuid,
  device_name: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  platform: Type.Unsafe<Type.Static<typeof Platform> | null>({ enum: ['ios', 'android', 'web', 'other', null] }),
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Timestamp,
  is_current: Type.Boolean({ description: 'The session of the access token that asks.' }),
});

/** Answer 200 of `GET /api/v1/auth/sessions`: live sessions, the one used last first. */
export const SessionListResponse = Success(Type.Object({ sessions: Type.Array(SessionSummary), timestamp: Timestamp }));
export type SessionListResponse = Type.Static<typeof SessionListResponse>;

/** Answer 200 of `DELETE /api/v1/auth/sessions/{session_id}`. */
export const SessionRevokedResponse = Success(
  Type.Object({ message: Type.Literal('SESSION_TERMINATED'), session_id: Uuid, timestamp: Timestamp }),
);
export type SessionRevokedResponse = Type.Static<typeof SessionRevokedResponse>;

/** Body of `POST /api/v1/auth/logout-all`. */
export const LogoutAllRequest = Type.Object({
  except_current: Type.Optional(
    Type.Boolean({ default: false, description: 'Spares the session of the access token that asks.' }),
  ),
});
export type LogoutAllRequest = Type.Static<typeof LogoutAllRequest>;

/** Answer 200 of `POST /api/v1/auth/logout-all`. */
export const LogoutAllResponse = Success(
  Type.Object({
    message: Type.Literal('SESSIONS_TERMINATED'),
    terminated_sessions: Type.Integer({ minimum: 0 }),
    timestamp: Timestamp,
  }),
);
export type LogoutAllResponse = Type.Static<typeof LogoutAllResponse>;

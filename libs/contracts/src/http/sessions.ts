import * as Type from '../type.ts';
import { Success, Timestamp, Uuid } from './fields.ts';
import type { Platform } from './login.ts';

/**
 * `{session_id}` in paths. No format is required, so any text that is not a session's id is answered as an unknown
 * session.
 */
export const SessionId = Type.String({ minLength: 1, examples: ['01a1fb4e-daa7-714a-a09b-e1a8069f4580'] });

/** A logged-in device, as the list shows it to its user. It never contains a token. */
export const SessionSummary = Type.Object({
  session_id: Uuid,
  device_id: Uuid,
  device_name: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  platform: Type.Unsafe<Type.Static<typeof Platform> | null>({ enum: ['ios', 'android', 'web', 'other', null] }),
  created_at: Timestamp,
  last_used_at: Timestamp,
  expires_at: Timestamp,
  bound: Type.Boolean({ description: 'Its refreshes need a proof of the device’s key.' }),
  trusted: Type.Boolean({ description: 'Logins of its device need no second factor.' }),
  is_current: Type.Boolean({ description: 'The session of the access token that asks.' }),
});

/** Answer 200 of `GET /api/v1/auth/sessions`: live sessions, the most recently used first. */
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

const sessionId = '01a1fb4e-daa7-714a-a09b-e1a8069f4580';
const timestamp = '2026-11-20T23:33:31.454Z';

export const sessionListExample = {
  status: 'success',
  data: {
    sessions: [
      {
        session_id: sessionId,
        device_id: '5c1ae21a-55ea-47d2-b0b3-8ae2bd7f5f6e',
        device_name: 'Pixel 9',
        platform: 'android',
        created_at: '2026-11-18T07:10:00.000Z',
        last_used_at: '2026-11-20T23:21:12.080Z',
        expires_at: '2026-12-20T23:21:12.080Z',
        bound: false,
        trusted: false,
        is_current: true,
      },
    ],
    timestamp,
  },
} as const;

export const sessionRevokedExample = {
  status: 'success',
  data: { message: 'SESSION_TERMINATED', session_id: sessionId, timestamp },
} as const;

export const logoutAllExamples = {
  others: { summary: 'All other devices', value: { except_current: true } },
  all: { summary: 'All devices, this one too', value: {} },
} as const;

export const loggedOutAllExample = {
  status: 'success',
  data: { message: 'SESSIONS_TERMINATED', terminated_sessions: 2, timestamp },
} as const;

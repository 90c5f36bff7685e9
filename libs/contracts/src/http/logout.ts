import * as Type from '../type.ts';
import { Success, Timestamp } from './fields.ts';
import { exampleRefreshToken } from './login.ts';

/**
 * Body of `POST /api/v1/auth/logout`. Any text that is not a genuine token is answered with 404
 * (docs/specification/logout.md, "Logout"), so only the body's maximum length limits the token.
 */
export const LogoutRequest = Type.Object({ refresh_token: Type.String({ minLength: 1 }) });
export type LogoutRequest = Type.Static<typeof LogoutRequest>;

/** Answer 200 of `POST /api/v1/auth/logout`. */
export const LogoutResponse = Success(
  Type.Object({
    message: Type.Literal('SESSION_TERMINATED'),
    details: Type.String({ minLength: 1 }),
    timestamp: Timestamp,
  }),
);
export type LogoutResponse = Type.Static<typeof LogoutResponse>;

export const logoutExamples = {
  token: { summary: 'The session to end', value: { refresh_token: exampleRefreshToken } },
} satisfies Record<string, { summary: string; value: LogoutRequest }>;

export const loggedOutExample = {
  status: 'success',
  data: {
    message: 'SESSION_TERMINATED',
    details: 'The refresh token has been revoked and the push WebSocket of this device has been closed.',
    timestamp: '2026-11-20T10:00:00.000Z',
  },
} satisfies LogoutResponse;

import { LoginRequest, loginExamples, TokenResponse, tokenExample } from '../login.ts';
import { LogoutRequest, LogoutResponse, loggedOutExample, logoutExamples } from '../logout.ts';
import { RefreshRequest, refreshExamples } from '../refresh.ts';
import type { Route } from '../route.ts';
import {
  LogoutAllRequest,
  LogoutAllResponse,
  loggedOutAllExample,
  logoutAllExamples,
  SessionId,
  SessionListResponse,
  SessionRevokedResponse,
  sessionListExample,
  sessionRevokedExample,
} from '../sessions.ts';
import { access, common, commonHeaders, loginHeaders, withoutBody } from './shared.ts';

/**
 * Link from a token pair to the refresh that replaces it. The link's body is the whole `data`, because the generators'
 * parser accepts only text there. The service ignores fields that it does not know.
 */
const nextRefresh = { refresh: { operationId: 'refreshTokens', requestBody: '$response.body#/data' } } as const;

/** Operations on sessions. */
export const sessionRoutes = {
  logIn: {
    operationId: 'logIn',
    tag: 'Sessions',
    promises: 'login-and-tokens.md#login',
    client: 'core',
    summary: 'Open a session',
    description:
      'Exchanges email address and password for an access token and a refresh token. One session per user and ' +
      'device: a new login on a device ends the session before it, whose stream closes with 4005 `SESSION_REPLACED`. ' +
      'A user has at most 50 sessions; the least recently used one ends, and its stream closes with 4001 ' +
      '`SESSION_REVOKED`.\n\n' +
      'If the service requires verified email addresses and this one is not, the right password gets 403 ' +
      '`ERR-EMAIL-NOT-VERIFIED`, and a code is sent to it: the app confirms it with `challenge_id` ' +
      '(`confirmEmailVerification`), then logs in.\n\n' +
      'A repeat with the same `Idempotency-Key`, body and device gets the newest pair of the session that it has ' +
      'opened, while that session lives: send a key, or a network that repeats the request ends the session that ' +
      'your app holds.\n\n' +
      'With `DPoP`, the session’s refresh tokens are bound to the key of the proof, and the answer has `bound: ' +
      'true`. A wrong proof is 422, and opens no session.\n\n' +
      'Only a caller who knows the password learns that an account is disabled or about to be deleted.',
    method: 'post',
    path: '/api/v1/auth/login',
    auth: 'none',
    headers: [...loginHeaders, 'Idempotency-Key'],
    body: LoginRequest,
    requests: loginExamples,
    success: {
      status: 200,
      description: 'The session is open.',
      body: TokenResponse,
      example: tokenExample,
      links: nextRefresh,
    },
    errors: [
      ...common,
      'ERR-INVALID-CREDENTIALS',
      'ERR-ACCOUNT-DISABLED',
      'ERR-ACCOUNT-DELETION-SCHEDULED',
      'ERR-EMAIL-NOT-VERIFIED',
      'ERR-SECOND-FACTOR-REQUIRED',
      'ERR-IDEMPOTENCY-KEY-REUSED',
      'ERR-RATE-LIMITED',
      'ERR-OVERLOADED',
    ],
  },
  refreshTokens: {
    operationId: 'refreshTokens',
    tag: 'Sessions',
    promises: 'refresh.md',
    client: 'core',
    summary: 'Get the next token pair',
    description:
      'Exchanges a refresh token for a new pair. A lost answer costs nothing: the same token may be sent again. A token ' +
      'that was replaced long ago counts as stolen and ends its session.\n\n' +
      'The token of a session that has ended is `IAD_JWT_REFRESH_STOLEN`, whatever ended it; `details.reason` says what ' +
      'did. Only `reused` is a sign of theft.\n\n' +
      'For apps: one refresh in flight, a time-out of at most 20 s, store the pair before using it; the answer to the ' +
      'later request wins.\n\n' +
      'A session that a login with `DPoP` has bound to a key needs a proof by that key. Without it the answer is ' +
      '`IAD_JWT_REFRESH_EXPIRED`, and the session lives on.',
    method: 'post',
    path: '/api/v1/auth/refresh',
    auth: 'none',
    finality: 'itself',
    headers: [...commonHeaders, 'DPoP'],
    body: RefreshRequest,
    requests: refreshExamples,
    success: {
      status: 200,
      description: 'The next pair.',
      body: TokenResponse,
      example: tokenExample,
      links: nextRefresh,
    },
    errors: [...common, 'IAD_JWT_REFRESH_EXPIRED', 'IAD_JWT_REFRESH_STOLEN', 'ERR-RATE-LIMITED'],
  },
  logOut: {
    operationId: 'logOut',
    tag: 'Sessions',
    promises: 'logout.md#logout',
    client: 'core',
    summary: 'End a session',
    description:
      'Revokes the session of the refresh token, if it is one of the caller’s, and closes its push stream with code 1000 ' +
      '`LOGOUT_CONFIRMED`. On a 404 the app clears its state too: that session is dead.',
    method: 'post',
    path: '/api/v1/auth/logout',
    auth: 'signature',
    headers: commonHeaders,
    body: LogoutRequest,
    requests: logoutExamples,
    success: { status: 200, description: 'The session has ended.', body: LogoutResponse, example: loggedOutExample },
    errors: [...common, 'IAD_JWT_ACCESS_INVALID', 'IAD_JWT_ACCESS_EXPIRED', 'ERR-LOGOUT-TARGET-NOT-FOUND'],
  },
  logOutAll: {
    operationId: 'logOutAll',
    tag: 'Sessions',
    promises: 'logout.md#logout',
    client: 'sessions.revokeAll',
    summary: 'End all sessions',
    description:
      'Revokes every session of the caller, or with `except_current` every other one. Streams close with 4001 ' +
      '`SESSION_REVOKED`, the caller’s own with 1000 `LOGOUT_CONFIRMED`.',
    method: 'post',
    path: '/api/v1/auth/logout-all',
    auth: 'bearer',
    headers: commonHeaders,
    body: LogoutAllRequest,
    requests: logoutAllExamples,
    success: {
      status: 200,
      description: 'The sessions have ended.',
      body: LogoutAllResponse,
      example: loggedOutAllExample,
    },
    errors: [...common, ...access, 'ERR-RATE-LIMITED'],
  },
  listSessions: {
    operationId: 'listSessions',
    tag: 'Sessions',
    promises: 'logout.md#devices',
    client: 'sessions.list',
    summary: 'List the devices that are logged in',
    description: 'The caller’s live sessions, most recently used first. It never has a token.',
    method: 'get',
    path: '/api/v1/auth/sessions',
    auth: 'bearer',
    headers: commonHeaders,
    success: {
      status: 200,
      description: 'The sessions.',
      body: SessionListResponse,
      example: sessionListExample,
    },
    errors: [...withoutBody, ...access],
  },
  revokeSession: {
    operationId: 'revokeSession',
    tag: 'Sessions',
    promises: 'logout.md#devices',
    client: 'sessions.revoke',
    summary: 'End the session of a device',
    description:
      'Revokes one of the caller’s sessions by its id. Its stream closes with 4001 `SESSION_REVOKED`, the caller’s own ' +
      'with 1000 `LOGOUT_CONFIRMED`. An id that is not a live session of the caller gets 404.',
    method: 'delete',
    path: '/api/v1/auth/sessions/:session_id',
    auth: 'bearer',
    params: { session_id: SessionId },
    headers: commonHeaders,
    success: {
      status: 200,
      description: 'The session has ended.',
      body: SessionRevokedResponse,
      example: sessionRevokedExample,
    },
    errors: [...withoutBody, ...access, 'ERR-LOGOUT-TARGET-NOT-FOUND', 'ERR-RATE-LIMITED'],
  },
} as const satisfies Record<string, Route>;

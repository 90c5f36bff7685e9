import type { SessionDocument } from '@auth-account/stores/documents';

/** Lifetime of a session, in seconds. */
export interface SessionLifetime {
  /** Seconds since the session's last use. */
  readonly idleSeconds: number;
  /** Seconds since the login. */
  readonly absoluteSeconds: number;
}

/** Returns the expiry times of a session that begins at `at`. */
export function newExpiry(
  at: Date,
  { idleSeconds, absoluteSeconds }: SessionLifetime,
): Pick<SessionDocument, 'expires_at' | 'absolute_expires_at'> {
  const absolute_expires_at = addSeconds(at, absoluteSeconds);
  return { expires_at: earlier(addSeconds(at, idleSeconds), absolute_expires_at), absolute_expires_at };
}

/** Returns the idle expiry after a use at `at`. The session's absolute expiry may be earlier. */
export function idleExpiry(at: Date, { idleSeconds }: SessionLifetime): Date {
  return addSeconds(at, idleSeconds);
}

/** Returns the idle expiry after a use at `at`, limited by the absolute expiry. */
export function extendedExpiry(session: SessionDocument, at: Date, lifetime: SessionLifetime): Date {
  return earlier(idleExpiry(at, lifetime), session.absolute_expires_at);
}

function addSeconds(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1_000);
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
